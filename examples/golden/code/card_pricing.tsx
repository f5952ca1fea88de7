import React from "react";

const accent = "#059669";

const features = [
  "Unlimited projects",
  "Shared component library",
  "Review history for a year",
  "Support within one day",
];

export default function PricingCard({ onStart }: { onStart?: () => void }) {
  return (
    <section
      style={{
        position: "relative",
        width: 300,
        padding: "32px 28px",
        border: `2px solid ${accent}`,
        borderRadius: 16,
        background: "#FFFFFF",
      }}
    >
      <span
        style={{
          position: "absolute",
          top: -13,
          left: "50%",
          transform: "translateX(-50%)",
          padding: "5px 14px",
          borderRadius: 13,
          background: accent,
          color: "#FFFFFF",
          fontSize: 12,
          fontWeight: 700,
          whiteSpace: "nowrap",
        }}
      >
        Most popular
      </span>
      <h2 style={{ margin: "0 0 6px", fontSize: 18, color: "#0F172A" }}>Team</h2>
      <p style={{ margin: "0 0 20px", fontSize: 14, color: "#64748B" }}>For groups that ship every week.</p>
      <p style={{ margin: "0 0 20px", fontSize: 44, fontWeight: 700, color: "#0F172A" }}>
        $29 <small style={{ fontSize: 15, fontWeight: 400, color: "#64748B" }}>per seat, monthly</small>
      </p>
      <ul style={{ margin: "0 0 24px", padding: 0, listStyle: "none" }}>
        {features.map((feature) => (
          <li key={feature} style={{ display: "flex", gap: 10, marginBottom: 12, fontSize: 14, color: "#334155" }}>
            <span style={{ fontWeight: 700, color: accent }}>✓</span>
            {feature}
          </li>
        ))}
      </ul>
      <button
        type="button"
        onClick={onStart}
        style={{ width: "100%", height: 46, border: 0, borderRadius: 10, background: accent, color: "#FFFFFF", fontSize: 15, fontWeight: 600 }}
      >
        Start free trial
      </button>
    </section>
  );
}
