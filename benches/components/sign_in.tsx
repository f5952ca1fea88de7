// width=380 height=360
import { useId, useState } from 'react';

function Field({ label, type }: { label: string; type: 'email' | 'password' }) {
  const id = useId();
  const [text, setText] = useState<string>('');
  return (
    <div className="mb-4">
      <label htmlFor={id} className="mb-1 block text-sm font-medium text-gray-700">{label}</label>
      <input id={id} type={type} value={text} placeholder={label} onChange={(event) => setText(event.target.value)}
        className="w-full rounded-md border border-gray-300 px-3 py-2 text-sm" />
    </div>
  );
}

export default function SignIn() {
  return (
    <form className="mx-auto mt-6 w-72 rounded-xl border border-gray-200 bg-white p-6 shadow">
      <h1 className="mb-4 text-xl font-semibold text-gray-900">Sign in</h1>
      <Field label="Email" type="email" />
      <Field label="Password" type="password" />
      <button className="w-full rounded-md bg-teal-700 py-2 text-sm font-semibold text-white">Continue</button>
    </form>
  );
}
