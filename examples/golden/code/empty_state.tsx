import React from "react";

interface EmptyStateProps {
  onCreate?: () => void;
  onImport?: () => void;
}

export default function EmptyState({ onCreate, onImport }: EmptyStateProps) {
  const button: React.CSSProperties = { height: 42, padding: "0 20px", borderRadius: 8, fontSize: 15, fontWeight: 600 };
  return (
    <section style={{ width: 400, padding: "40px 32px", borderRadius: 16, background: "#FFFFFF", border: "1px solid #E2E8F0", textAlign: "center" }}>
      <svg width="96" height="80" viewBox="0 0 96 80" fill="none" aria-hidden="true">
        <path d="M10 30 24 8h48l14 22v38a6 6 0 0 1-6 6H16a6 6 0 0 1-6-6z" fill="#FFEDD5" />
        <path
          d="M10 30h24l5 12h18l5-12h24M10 30 24 8h48l14 22v38a6 6 0 0 1-6 6H16a6 6 0 0 1-6-6z"
          stroke="#EA580C"
          strokeWidth="3"
          strokeLinejoin="round"
        />
      </svg>
      <h2 style={{ margin: "18px 0 8px", fontSize: 19, color: "#0F172A" }}>No invoices yet</h2>
      <p style={{ margin: "0 0 22px", fontSize: 14, lineHeight: 1.5, color: "#64748B" }}>
        Invoices appear here as soon as you send the first one to a customer.
      </p>
      <button type="button" onClick={onCreate} style={{ ...button, border: 0, background: "#EA580C", color: "#FFFFFF" }}>
        Create invoice
      </button>
      <button
        type="button"
        onClick={onImport}
        style={{ ...button, marginLeft: 12, border: "1px solid #CBD5E1", background: "#FFFFFF", color: "#334155" }}
      >
        Import from CSV
      </button>
    </section>
  );
}
