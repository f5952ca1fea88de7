import React from "react";

type Tone = "green" | "amber" | "red" | "blue" | "grey";

const tones: Record<Tone, { background: string; color: string }> = {
  green: { background: "#DCFCE7", color: "#FFFFFF" },
  amber: { background: "#FEF3C7", color: "#FFFFFF" },
  red: { background: "#FEE2E2", color: "#FFFFFF" },
  blue: { background: "#DBEAFE", color: "#FFFFFF" },
  grey: { background: "#E2E8F0", color: "#FFFFFF" },
};

function Badge({ tone, children }: { tone: Tone; children: React.ReactNode }) {
  return (
    <span style={{ padding: "6px 12px", borderRadius: 14, fontSize: 13, fontWeight: 600, ...tones[tone] }}>
      {children}
    </span>
  );
}

export default function BadgeSet() {
  return (
    <div style={{ display: "flex", gap: 10 }}>
      <Badge tone="green">Active</Badge>
      <Badge tone="amber">Pending</Badge>
      <Badge tone="red">Blocked</Badge>
      <Badge tone="blue">In review</Badge>
      <Badge tone="grey">Archived</Badge>
    </div>
  );
}
