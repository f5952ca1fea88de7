import React from "react";

type Variant = "primary" | "secondary";

const variants: Record<Variant, React.CSSProperties> = {
  primary: { border: 0, background: "#1D4ED8", color: "#FFFFFF" },
  secondary: { border: "1px solid #CBD5E1", background: "#FFFFFF", color: "#334155" },
};

interface ButtonProps {
  variant?: Variant;
  children: React.ReactNode;
  onClick?: () => void;
}

function Button({ variant = "primary", children, onClick }: ButtonProps) {
  return (
    <button
      type="button"
      onClick={onClick}
      style={{
        height: 44,
        padding: "0 24px",
        borderRadius: 8,
        fontSize: 16,
        fontWeight: 600,
        ...variants[variant],
      }}
    >
      {children}
    </button>
  );
}

export default function CancelButton() {
  return <Button variant="primary">Cancel</Button>;
}
