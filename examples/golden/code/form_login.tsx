import React, { useState } from "react";

const field: React.CSSProperties = {
  width: "100%",
  height: 42,
  marginBottom: 16,
  padding: "0 12px",
  border: "1px solid #CBD5E1",
  borderRadius: 8,
  fontSize: 15,
  color: "#0F172A",
};
const label: React.CSSProperties = { display: "block", marginBottom: 6, fontSize: 14, fontWeight: 600, color: "#334155" };

export default function LoginForm() {
  const [email, setEmail] = useState("mara@harbour.example");
  const [password, setPassword] = useState("0123456789");
  const [remember, setRemember] = useState(true);

  return (
    <form
      style={{
        width: 336,
        padding: 20,
        border: "1px solid #E2E8F0",
        borderRadius: 12,
        background: "#FFFFFF",
        boxShadow: "0 8px 24px rgba(15, 23, 42, .06)",
      }}
    >
      <h1 style={{ margin: "0 0 4px", fontSize: 22, color: "#0F172A" }}>Welcome back</h1>
      <p style={{ margin: "0 0 24px", fontSize: 14, color: "#64748B" }}>Sign in to go on with your projects.</p>
      <label style={label} htmlFor="email">Email</label>
      <input id="email" type="email" style={field} value={email} onChange={(e) => setEmail(e.target.value)} />
      <label style={label} htmlFor="password">Password</label>
      <input id="password" type="password" style={field} value={password} onChange={(e) => setPassword(e.target.value)} />
      <div style={{ display: "flex", justifyContent: "space-between", alignItems: "center", marginBottom: 20, fontSize: 14, color: "#334155" }}>
        <label style={{ display: "flex", alignItems: "center", gap: 8 }}>
          <input
            type="checkbox"
            checked={remember}
            onChange={(e) => setRemember(e.target.checked)}
            style={{ width: 16, height: 16, margin: 0, accentColor: "#1D4ED8" }}
          />
          Remember me
        </label>
        <a href="/reset" style={{ color: "#1D4ED8", textDecoration: "none" }}>Forgot password?</a>
      </div>
      <button
        type="submit"
        style={{ width: "100%", height: 44, border: 0, borderRadius: 8, background: "#1D4ED8", color: "#FFFFFF", fontSize: 16, fontWeight: 600 }}
      >
        Sign in
      </button>
    </form>
  );
}
