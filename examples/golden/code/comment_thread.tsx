import React from "react";

interface Comment {
  initials: string;
  color: string;
  name: string;
  time: string;
  text: string;
  reply?: boolean;
}

const comments: Comment[] = [
  {
    initials: "SV",
    color: "#0891B2",
    name: "Sofia Vega",
    time: "2 h ago",
    text: "The spacing above the chart looks uneven on small screens. Could we use the same gap as in the table?",
  },
  { initials: "HM", color: "#BE185D", name: "Henrik Maas", time: "40 min ago", text: "Good eye, fixed in the latest draft.", reply: true },
];

const action: React.CSSProperties = { marginRight: 14, fontSize: 13, fontWeight: 600, color: "#64748B", textDecoration: "none" };

function Avatar({ initials, color }: { initials: string; color: string }) {
  return (
    <div
      style={{
        flex: "none",
        width: 24,
        height: 24,
        borderRadius: "50%",
        background: color,
        color: "#FFFFFF",
        fontSize: 10,
        fontWeight: 700,
        lineHeight: "24px",
        textAlign: "center",
      }}
    >
      {initials}
    </div>
  );
}

export default function CommentThread() {
  return (
    <section style={{ width: 496, padding: 20, border: "1px solid #E2E8F0", borderRadius: 12, background: "#FFFFFF" }}>
      {comments.map((c) => (
        <div key={c.name} style={{ display: "flex", gap: 12, margin: c.reply ? "18px 0 0 52px" : 0 }}>
          <Avatar initials={c.initials} color={c.color} />
          <div>
            <div style={{ fontSize: 14, fontWeight: 700, color: "#0F172A" }}>
              {c.name}
              <span style={{ marginLeft: 8, fontWeight: 400, color: "#94A3B8" }}>{c.time}</span>
            </div>
            <p style={{ margin: "4px 0 8px", fontSize: 14, lineHeight: 1.5, color: "#334155" }}>{c.text}</p>
            <a href="#reply" style={action}>Reply</a>
            <a href="#like" style={action}>Like</a>
          </div>
        </div>
      ))}
    </section>
  );
}
