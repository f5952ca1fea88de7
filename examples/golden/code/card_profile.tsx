import React from "react";

const stats: [string, string][] = [
  ["128", "Posts"],
  ["4.2k", "Followers"],
  ["310", "Following"],
];

export default function ProfileCard({ onFollow }: { onFollow?: () => void }) {
  return (
    <section style={{ width: 300, padding: "28px 24px", border: "1px solid #E2E8F0", borderRadius: 16, background: "#FFFFFF", textAlign: "center" }}>
      <div
        style={{
          width: 84,
          height: 84,
          margin: "0 auto 14px",
          borderRadius: 8,
          background: "#F59E0B",
          color: "#FFFFFF",
          fontSize: 30,
          fontWeight: 700,
          lineHeight: "84px",
        }}
      >
        NO
      </div>
      <h2 style={{ margin: "0 0 4px", fontSize: 18, color: "#0F172A" }}>Nora Okafor</h2>
      <p style={{ margin: "0 0 20px", fontSize: 14, color: "#64748B" }}>Interface engineer, Lisbon</p>
      <dl style={{ display: "flex", justifyContent: "space-between", margin: "0 0 20px" }}>
        {stats.map(([value, name]) => (
          <div key={name} style={{ flex: 1 }}>
            <dd style={{ margin: "0 0 2px", fontSize: 17, fontWeight: 700, color: "#0F172A" }}>{value}</dd>
            <dt style={{ fontSize: 12, color: "#64748B" }}>{name}</dt>
          </div>
        ))}
      </dl>
      <button
        type="button"
        onClick={onFollow}
        style={{ width: "100%", height: 40, border: 0, borderRadius: 20, background: "#0F172A", color: "#FFFFFF", fontSize: 14, fontWeight: 600 }}
      >
        Follow
      </button>
    </section>
  );
}
