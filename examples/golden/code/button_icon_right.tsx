import React from "react";

function ArrowIcon() {
  return (
    <svg width="18" height="18" viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="2.5" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      <path d="M5 12h14M13 6l6 6-6 6" />
    </svg>
  );
}

export default function ContinueButton({ onContinue }: { onContinue?: () => void }) {
  return (
    <button
      type="button"
      onClick={onContinue}
      style={{
        display: "inline-flex",
        flexDirection: "row",
        alignItems: "center",
        gap: 10,
        height: 48,
        padding: "0 22px",
        border: 0,
        borderRadius: 24,
        background: "#0F766E",
        color: "#FFFFFF",
        fontSize: 16,
        fontWeight: 600,
      }}
    >
      <ArrowIcon />
      Continue
    </button>
  );
}
