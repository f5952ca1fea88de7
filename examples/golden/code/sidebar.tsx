import React from "react";

function Icon({ path }: { path: string }) {
  return (
    <svg width="18" height="18" viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

interface Entry {
  title: string;
  href: string;
  icon?: string;
  count?: number;
}

const entries: Entry[] = [
  { title: "Home", href: "/", icon: "m3 11 9-8 9 8v9a1 1 0 0 1-1 1h-5v-7H9v7H4a1 1 0 0 1-1-1z" },
  { title: "Inbox", href: "/inbox", icon: "M4 5h16v14H4zM4 13h5l1 3h4l1-3h5", count: 8 },
  { title: "Calendar", href: "/calendar" },
  { title: "Analytics", href: "/analytics", icon: "M5 21V10M12 21V3M19 21v-7" },
];
const account: Entry = { title: "Account", href: "/account", icon: "M8 8a4 4 0 1 0 8 0a4 4 0 1 0-8 0M4 21c1-5 4-7 8-7s7 2 8 7" };

function Link({ entry, active = false, last = false }: { entry: Entry; active?: boolean; last?: boolean }) {
  return (
    <a
      href={entry.href}
      style={{
        display: "flex",
        alignItems: "center",
        gap: 12,
        height: 42,
        padding: "0 12px",
        marginTop: last ? "auto" : 0,
        borderRadius: 8,
        background: active ? "#1E40AF" : "transparent",
        color: active ? "#FFFFFF" : "#CBD5E1",
        fontSize: 15,
        fontWeight: active ? 600 : 400,
        textDecoration: "none",
      }}
    >
      {entry.icon && <Icon path={entry.icon} />}
      {entry.title}
      {entry.count && (
        <span style={{ marginLeft: "auto", padding: "2px 8px", borderRadius: 10, background: "#DC2626", color: "#FFFFFF", fontSize: 12, fontWeight: 700 }}>
          {entry.count}
        </span>
      )}
    </a>
  );
}

export default function Sidebar() {
  return (
    <nav style={{ display: "flex", flexDirection: "column", gap: 4, width: 248, minHeight: 460, padding: "20px 12px", background: "#0F172A" }}>
      <p style={{ margin: "0 0 18px", padding: "0 12px", fontSize: 18, fontWeight: 700, color: "#FFFFFF" }}>Fieldnotes</p>
      {entries.map((entry, index) => (
        <Link key={entry.href} entry={entry} active={index === 0} />
      ))}
      <Link entry={account} last />
    </nav>
  );
}
