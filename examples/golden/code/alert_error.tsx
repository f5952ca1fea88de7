import React from "react";

interface ErrorAlertProps {
  title?: string;
  text?: string;
  onRetry?: () => void;
}

export default function ErrorAlert({
  title = "Upload failed",
  text = "The connection was lost after 3 of 12 files.",
  onRetry,
}: ErrorAlertProps) {
  return (
    <div
      role="alert"
      style={{
        display: "flex",
        gap: 12,
        width: 496,
        padding: 16,
        borderLeft: "4px solid #DC2626",
        borderRadius: 6,
        background: "#FEF2F2",
        color: "#991B1B",
      }}
    >
      <svg width="22" height="22" viewBox="0 0 24 24" style={{ flex: "none" }} aria-hidden="true">
        <circle cx="12" cy="12" r="11" fill="#DC2626" />
        <path d="M12 6v7M12 17v.5" stroke="#FFFFFF" strokeWidth="2.6" strokeLinecap="round" />
      </svg>
      <div>
        <strong style={{ display: "block", marginBottom: 4, fontSize: 15 }}>{title}</strong>
        <p style={{ margin: "0 0 8px", fontSize: 14, color: "#B91C1C" }}>{text}</p>
        <a href="#retry" onClick={onRetry} style={{ fontSize: 14, fontWeight: 600, color: "#991B1B" }}>
          Try again
        </a>
    </div>
  );
}
