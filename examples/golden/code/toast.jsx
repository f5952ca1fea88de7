import React from "react";

export default function Toast({ message = "Conversation archived", onUndo, onDismiss }) {
  return (
    <div
      role="status"
      style={{
        display: "flex",
        alignItems: "center",
        gap: 14,
        width: 356,
        padding: "14px 16px",
        borderRadius: 10,
        background: "#1E293B",
        color: "#F8FAFC",
        fontSize: 14,
        boxShadow: "0 8px 20px rgba(15, 23, 42, .3)",
      }}
    >
      <span style={{ flex: 1 }}>{message}</span>
      <button
        type="button"
        onClick={onUndo}
        style={{ padding: 0, border: 0, background: "none", fontSize: 14, fontWeight: 700, color: "#7DD3FC" }}
      >
        Undo
      </button>
      <button
        type="button"
        aria-label="Dismiss"
        onClick={onDismiss}
        style={{ padding: 0, border: 0, background: "none", fontSize: 18, fontWeight: 700, lineHeight: 1, color: "#94A3B8" }}
      >
        ×
      </button>
    </div>
  );
}
