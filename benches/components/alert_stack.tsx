// width=440 height=260
import type { ReactNode } from 'react';

const tones = {
  info: 'border-blue-300 bg-blue-50 text-blue-900',
  danger: 'border-red-300 bg-red-50 text-red-900',
} as const;

function Alert({ tone, title, children }: { tone: keyof typeof tones; title: string; children: ReactNode }) {
  return (
    <div className={`rounded-md border p-4 ${tones[tone]}`}>
      <p className="text-sm font-semibold">{title}</p>
      <p className="mt-1 text-sm">{children}</p>
    </div>
  );
}

export default () => (
  <main className="flex flex-col gap-4 p-6">
    <Alert tone="info" title="A newer version is there">Reload the page to get it.</Alert>
    <Alert tone="danger" title="The card was declined">Try another card, or ask your bank.</Alert>
  </main>
);
