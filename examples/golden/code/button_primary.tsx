import React from "react";

interface SaveButtonProps {
  label?: string;
  disabled?: boolean;
  onClick?: () => void;
}

export default function SaveButton({ label = "Save changes", disabled = false, onClick }: SaveButtonProps) {
  return (
    <button
      type="button"
      disabled={disabled}
      onClick={onClick}
      style={{
        height: 44,
        padding: "0 24px",
        border: 0,
        borderRadius: 8,
        background: "#1D4ED8",
        color: "#FFFFFF",
        fontSize: 16,
        fontWeight: 600,
        boxShadow: "0 1px 2px rgba(15, 23, 42, .18)",
      }}
    >
      {label}
    </button>
  );
}
