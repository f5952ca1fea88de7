import React, { useState } from "react";

interface SwitchProps {
  on: boolean;
  onToggle: () => void;
}

function Switch({ on, onToggle }: SwitchProps) {
  return (
    <button
      type="button"
      onClick={onToggle}
      style={{ position: "relative", width: 44, height: 24, padding: 0, border: 0, borderRadius: 12, background: on ? "#2563EB" : "#CBD5E1" }}
    >
      <span style={{ position: "absolute", top: 3, left: on ? 23 : 3, width: 18, height: 18, borderRadius: "50%", background: "#FFFFFF" }} />
    </button>
  );
}

const options = [
  { key: "digest", title: "Email digest", hint: "One summary every morning" },
  { key: "mentions", title: "Mentions", hint: "When someone writes your name" },
  { key: "news", title: "Product news", hint: "New features, about once a month" },
];

export default function NotificationSettings() {
  const [on, setOn] = useState<Record<string, boolean>>({ digest: true, mentions: true, news: false });
  return (
    <section style={{ width: 456, border: "1px solid #E2E8F0", borderRadius: 14, background: "#FFFFFF" }}>
      <h2 style={{ margin: 0, padding: "18px 20px", fontSize: 17, color: "#0F172A" }}>Notifications</h2>
      {options.map(({ key, title, hint }) => (
        <div key={key} style={{ display: "flex", alignItems: "center", gap: 16, padding: "16px 20px", borderTop: "1px solid #E2E8F0" }}>
          <div style={{ flex: 1 }}>
            <strong style={{ display: "block", marginBottom: 3, fontSize: 15, color: "#0F172A" }}>{title}</strong>
            <small style={{ fontSize: 13, color: "#64748B" }}>{hint}</small>
          </div>
          <Switch on={on[key]} onToggle={() => setOn({ ...on, [key]: !on[key] })} />
        </div>
      ))}
    </section>
  );
}
