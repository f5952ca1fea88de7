import React from "react";

interface SuccessAlertProps {
  title?: string;
  children?: React.ReactNode;
}

export default function SuccessAlert({
  title = "Payment received",
  children = "We have sent the receipt to billing@harbour.example.",
}: SuccessAlertProps) {
  return (
    <div
      role="status"
      style={{
        display: "flex",
        gap: 12,
        width: 496,
        padding: 16,
        border: "1px solid #86EFAC",
        borderRadius: 10,
        background: "#F0FDF4",
        color: "#166534",
      }}
    >
      <svg width="22" height="22" viewBox="0 0 24 24" style={{ flex: "none" }} aria-hidden="true">
        <circle cx="12" cy="12" r="11" fill="#16A34A" />
        <path d="m7 12 3.5 3.5L17 9" fill="none" stroke="#FFFFFF" strokeWidth="2.4" strokeLinecap="round" strokeLinejoin="round" />
      </svg>
      <div>
        <strong style={{ display: "block", marginBottom: 4, fontSize: 15 }}>{title}</strong>
        <p style={{ margin: 0, fontSize: 14, color: "#15803D" }}>{children}</p>
      </div>
    </div>
  );
}
