import React from "react";

const steps = ["Cart", "Address", "Payment", "Review"];

export default function ProgressSteps({ current = 2 }: { current?: number }) {
  return (
    <ol style={{ display: "flex", flexDirection: "column", gap: 28, margin: 0, padding: 0, listStyle: "none" }}>
      {steps.map((step, index) => {
        const reached = index <= current;
        return (
          <li
            key={step}
            aria-current={index === current ? "step" : undefined}
            style={{
              position: "relative",
              display: "flex",
              alignItems: "center",
              gap: 10,
              fontSize: 14,
              fontWeight: index === current ? 700 : 400,
              color: index === current ? "#0F172A" : "#64748B",
            }}
          >
            {index > 0 && (
              <i style={{ position: "absolute", left: 17, bottom: "100%", width: 3, height: 28, background: reached ? "#059669" : "#E2E8F0" }} />
            )}
            <span
              style={{
                width: 36,
                height: 36,
                borderRadius: "50%",
                background: reached ? "#059669" : "#E2E8F0",
                color: reached ? "#FFFFFF" : "#64748B",
                fontWeight: 700,
                lineHeight: "36px",
                textAlign: "center",
              }}
            >
              {index < current ? "✓" : index + 1}
            </span>
            {step}
          </li>
        );
      })}
    </ol>
  );
}
