import React from "react";

interface StatCardProps {
  title?: string;
  value?: string;
  change?: string;
}

export default function StatCard({ title = "Revenue, this week", value = "$48,290", change = "+12.4%" }: StatCardProps) {
  return (
    <section style={{ width: 280, padding: "20px 24px", border: "1px solid #E2E8F0", borderRadius: 12, background: "#FFFFFF" }}>
      <div style={{ display: "flex", justifyContent: "space-between", alignItems: "center", fontSize: 14, color: "#64748B" }}>
        <span>{title}</span>
        <span style={{ padding: "3px 8px", borderRadius: 10, background: "#DCFCE7", color: "#166534", fontSize: 12, fontWeight: 700 }}>
          {change}
        </span>
      </div>
      <p style={{ margin: "10px 0 12px", fontSize: 32, fontWeight: 700, color: "#0F172A" }}>{value}</p>
      <svg width="232" height="36" viewBox="0 0 232 36" fill="none" style={{ display: "block" }} aria-hidden="true">
        <path
          d="M2 30 36 24l32 3 34-11 32 5 34-13 30 4 30-9"
          stroke="#16A34A"
          strokeWidth="2"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
    </section>
  );
}
