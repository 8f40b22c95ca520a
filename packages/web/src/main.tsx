import './tokens.css'
import './base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/queries.ts'
import { namesStore } from './parts/labels.ts'
import { router } from './routes.tsx'

/** Renders anew if texts were shown before the names of emoji were known. */
function Pages() {
  return <RouterProvider key={useSyncExternalStore(namesStore.subscribe, namesStore.read)} router={router} />
}

const root = document.getElementById('root')
if (root === null) throw new Error('The page has no root.')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Pages />
    </QueryClientProvider>
  </StrictMode>,
)
