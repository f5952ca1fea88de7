import React from "react";

interface ArticleCardProps {
  image?: string;
  kicker?: string;
  title?: string;
  text?: string;
  href?: string;
}

export default function ArticleCard({
  image = "/images/coast.jpg",
  kicker = "Weekend trips",
  title = "Three days on the coast",
  text = "A slow route along bays, bakeries and one very windy lighthouse.",
  href = "/guides/coast",
}: ArticleCardProps) {
  return (
    <article style={{ width: 320, overflow: "hidden", borderRadius: 14, background: "#FFFFFF" }}>
      <img
        src={image}
        alt="Hills above a bay at sunset"
        width={320}
        height={170}
        style={{ display: "block", objectFit: "cover" }}
      />
      <div style={{ padding: 20 }}>
        <p
          style={{
            margin: "0 0 6px",
            fontSize: 12,
            fontWeight: 700,
            letterSpacing: ".08em",
            textTransform: "uppercase",
            color: "#0369A1",
          }}
        >
          {kicker}
        </p>
        <h2 style={{ margin: "0 0 8px", fontSize: 20, color: "#0F172A" }}>{title}</h2>
        <p style={{ margin: "0 0 16px", fontSize: 14, lineHeight: 1.5, color: "#475569" }}>{text}</p>
        <a href={href} style={{ fontSize: 14, fontWeight: 600, color: "#0369A1", textDecoration: "none" }}>
          Read the guide →
        </a>
      </div>
    </article>
  );
}
