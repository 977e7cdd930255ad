import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { client, signIn } from './app/client.ts';
import { SignedOut } from './app/signed-out.tsx';

const place = document.querySelector('#page');
if (place !== null) {
  const root = createRoot(place);
  try {
    await signIn();
    const { home } = await client.daemon();
    root.render(<StrictMode>{home}</StrictMode>);
  } catch (error) {
    root.render(<SignedOut why={error instanceof Error ? error.message : null} />);
  }
}
