import React from "react";

interface DeleteButtonProps {
  label?: string;
  onDelete?: () => void;
}

export default function DeleteButton({ label = "Delete project", onDelete }: DeleteButtonProps) {
  return (
    <button
      type="button"
      onClick={onDelete}
      style={{
        display: "inline-flex",
        alignItems: "center",
        gap: 8,
        height: 44,
        padding: "0 20px",
        border: 0,
        borderRadius: 8,
        background: "#DC2626",
        color: "#FFFFFF",
        fontSize: 16,
        fontWeight: 600,
      }}
    >
      {label}
    </button>
  );
}
