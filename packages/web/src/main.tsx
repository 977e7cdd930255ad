import { messageOf, PawlError } from '@pawl/schema/error';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { client, signIn } from './app/client.ts';
import { startLive } from './app/live.ts';
import { createPages } from './app/router.tsx';
import { SignedOut } from './app/signed-out.tsx';

const place = document.querySelector('#page');
if (place !== null) {
  const root = createRoot(place);
  try {
    await signIn();
    await client.daemon();
    open();
  } catch (error) {
    // Without a session there is nothing wrong to tell.
    const isUsual =
      error instanceof PawlError && error.code === 'unauthorized' && !error.message.startsWith('The code');
    root.render(<SignedOut why={isUsual ? null : messageOf(error)} />);
  }

  function open(): void {
    const queries = new QueryClient({
      queryCache: new QueryCache({
        onError: (error) => {
          if (error instanceof PawlError && error.code === 'unauthorized') live.signOut();
        },
      }),
      // Events say what is outdated, so nothing is fetched by the clock or by focus.
      defaultOptions: { queries: { staleTime: Infinity, refetchOnWindowFocus: false, retry: false } },
    });
    const live = startLive(queries);
    root.render(
      <StrictMode>
        <QueryClientProvider client={queries}>
          <RouterProvider router={createPages(live)} />
        </QueryClientProvider>
      </StrictMode>,
    );
  }
}
