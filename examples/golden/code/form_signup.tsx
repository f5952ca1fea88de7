import React from "react";

interface FieldProps {
  id: string;
  label: string;
  type?: string;
  placeholder: string;
}

function Field({ id, label, type = "text", placeholder }: FieldProps) {
  return (
    <div style={{ flex: 1, minWidth: 0 }}>
      <label htmlFor={id} style={{ display: "block", marginBottom: 6, fontSize: 13, fontWeight: 600, color: "#334155" }}>
        {label}
      </label>
      <input
        id={id}
        type={type}
        placeholder={placeholder}
        style={{ width: "100%", height: 40, marginBottom: 14, padding: "0 12px", border: "1px solid #D1D5DB", borderRadius: 8, fontSize: 14 }}
      />
    </div>
  );
}

export default function SignupForm({ onSubmit }: { onSubmit?: (form: FormData) => void }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit?.(new FormData(event.currentTarget));
      }}
      style={{ width: 352, padding: 28, borderRadius: 16, background: "#FFFFFF", boxShadow: "0 10px 30px rgba(15, 23, 42, .10)" }}
    >
      <h1 style={{ margin: "0 0 20px", fontSize: 22, color: "#0F172A" }}>Create your account</h1>
      <div style={{ display: "flex", gap: 12 }}>
        <Field id="first" label="First name" placeholder="Ada" />
        <Field id="last" label="Last name" placeholder="Byron" />
      </div>
      <Field id="email" label="Work email" type="email" placeholder="ada@company.example" />
      <Field id="password" label="Password" type="password" placeholder="At least 12 characters" />
      <label style={{ display: "flex", gap: 8, alignItems: "center", margin: "4px 0 18px", fontSize: 13, color: "#475569" }}>
        <input type="checkbox" style={{ margin: 0, width: 16, height: 16, accentColor: "#7C3AED" }} /> I agree to the terms of service
      </label>
      <button
        type="submit"
        style={{ width: "100%", height: 44, border: 0, borderRadius: 8, background: "#7C3AED", color: "#FFFFFF", fontSize: 15, fontWeight: 600 }}
      >
        Create account
      </button>
      <p style={{ margin: "16px 0 0", textAlign: "center", fontSize: 13, color: "#64748B" }}>
        Already a member? <a href="/login" style={{ color: "#7C3AED", textDecoration: "none", fontWeight: 600 }}>Sign in</a>
      </p>
    </form>
  );
}
