import React, { useState } from "react";

const tabs = ["Overview", "Activity", "Files", "Settings"];

export default function ProjectTabs() {
  const [active, setActive] = useState("Overview");
  return (
    <section style={{ width: 496, border: "1px solid #E2E8F0", borderRadius: 12, background: "#FFFFFF" }}>
      <div role="tablist" style={{ display: "flex", gap: 4, padding: "0 16px", borderBottom: "1px solid #E2E8F0" }}>
        {tabs.map((tab) => (
          <button
            key={tab}
            role="tab"
            aria-selected={tab === active}
            onClick={() => setActive(tab)}
            style={{
              height: 48,
              padding: "0 14px",
              border: 0,
              borderBottom: `3px solid ${tab === active ? "#7C3AED" : "transparent"}`,
              background: "none",
              fontSize: 15,
              fontWeight: 600,
              color: "#64748B",
            }}
          >
            {tab}
          </button>
        ))}
      </div>
      <div role="tabpanel" style={{ padding: 20, fontSize: 15, lineHeight: 1.55, color: "#334155" }}>
        The redesign of the booking page is in review. Two of three reviewers have approved it, and the release is planned for Thursday.
      </div>
    </section>
  );
}
