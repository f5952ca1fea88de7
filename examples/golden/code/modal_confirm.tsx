import React from "react";

interface ConfirmDialogProps {
  onCancel?: () => void;
  onConfirm?: () => void;
}

const button: React.CSSProperties = { height: 42, padding: "0 18px", borderRadius: 8, fontSize: 15, fontWeight: 600 };

export default function ConfirmDialog({ onCancel, onConfirm }: ConfirmDialogProps) {
  return (
    <div
      role="dialog"
      aria-labelledby="confirm-title"
      style={{
        width: 420,
        padding: 12,
        borderRadius: 16,
        background: "#FFFFFF",
        boxShadow: "0 24px 48px rgba(15, 23, 42, .35)",
      }}
    >
      <div
        style={{
          display: "flex",
          alignItems: "center",
          justifyContent: "center",
          width: 48,
          height: 48,
          marginBottom: 16,
          borderRadius: "50%",
          background: "#FEE2E2",
          color: "#DC2626",
        }}
      >
        <svg width="24" height="24" viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
          <path d="M12 3 2 20h20zM12 10v4M12 17v.2" />
        </svg>
      </div>
      <h2 id="confirm-title" style={{ margin: "0 0 8px", fontSize: 20, color: "#0F172A" }}>Delete this workspace?</h2>
      <p style={{ margin: "0 0 24px", fontSize: 15, lineHeight: 1.5, color: "#475569" }}>
        All 14 boards and their history will be removed for everyone. This cannot be undone.
      </p>
      <div style={{ display: "flex", justifyContent: "flex-end", gap: 12 }}>
        <button type="button" onClick={onCancel} style={{ ...button, border: "1px solid #CBD5E1", background: "#FFFFFF", color: "#334155" }}>
          Keep it
        </button>
        <button type="button" onClick={onConfirm} style={{ ...button, border: 0, background: "#DC2626", color: "#FFFFFF" }}>
          Delete workspace
        </button>
      </div>
    </div>
  );
}
