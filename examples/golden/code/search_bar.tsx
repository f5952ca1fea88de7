import React, { useState } from "react";

interface SearchBarProps {
  placeholder?: string;
  onSearch?: (query: string) => void;
}

export default function SearchBar({ placeholder = "Search articles, guides and videos", onSearch }: SearchBarProps) {
  const [query, setQuery] = useState("");
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch?.(query);
      }}
      style={{ display: "flex", gap: 8, width: 480 }}
    >
      <input
        type="search"
        aria-label="Search articles"
        value={query}
        placeholder={placeholder}
        onChange={(event) => setQuery(event.target.value)}
        style={{
          flex: 1,
          height: 46,
          padding: "0 14px",
          border: "1px solid #CBD5E1",
          borderRadius: 10,
          background: "#FFFFFF",
          fontSize: 15,
        }}
      />
      <button
        type="submit"
        style={{ height: 46, padding: "0 20px", border: 0, borderRadius: 10, background: "#0F172A", color: "#FFFFFF", fontSize: 15, fontWeight: 600 }}
      >
        Search
      </button>
    </form>
  );
}
