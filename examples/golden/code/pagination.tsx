import React from "react";

const base: React.CSSProperties = {
  minWidth: 40,
  height: 40,
  padding: "0 10px",
  border: "1px solid #E2E8F0",
  borderRadius: 8,
  background: "#FFFFFF",
  fontSize: 15,
  color: "#334155",
};
const current: React.CSSProperties = { ...base, borderColor: "#0D9488", background: "#0D9488", color: "#FFFFFF", fontWeight: 600 };

interface PaginationProps {
  page?: number;
  onPage?: (page: number) => void;
}

export default function Pagination({ page = 3, onPage }: PaginationProps) {
  return (
    <div style={{ display: "flex", gap: 6 }}>
      <button type="button" style={base} onClick={() => onPage?.(page - 1)}>‹</button>
      {[1, 2, 3, 4].map((n) => (
        <button key={n} type="button" style={n === page ? current : base} onClick={() => onPage?.(n)}>
          {n}
        </button>
      ))}
      <span style={{ width: 28, lineHeight: "40px", textAlign: "center", color: "#94A3B8" }}>…</span>
      <button type="button" style={base} onClick={() => onPage?.(12)}>12</button>
      <button type="button" style={base} onClick={() => onPage?.(page + 1)}>›</button>
    </div>
  );
}
