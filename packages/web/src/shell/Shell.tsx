import { Outlet, useParams, useRouter } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { followDownloads } from '../api/downloads.ts'
import { useKeys } from '../parts/keys.ts'
import { showFailure } from '../parts/toasts/toasts.ts'
import { Toasts } from '../parts/toasts/Toasts.tsx'
import { Banners } from './Banners.tsx'
import { storeLastOrganization } from './last-organization.ts'
import { SessionOver } from './SessionOver.tsx'
import { TopBar } from './TopBar.tsx'
import styles from './Shell.module.css'

const loadPalette = () => import('./Palette.tsx')
const Palette = lazy(() => loadPalette().then((module) => ({ default: module.Palette })))
const KeyList = lazy(() => import('./KeyList.tsx').then((module) => ({ default: module.KeyList })))

const paletteAfterMs = 2000

export function Shell() {
  const { org } = useParams({ strict: false })
  const router = useRouter()
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null)
  useEffect(() => {
    if (org !== undefined) storeLastOrganization(org)
  }, [org])
  useEffect(() => followDownloads(showFailure), [])
  // What is typed right after the key must reach the palette, so it is there before it is opened.
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette(), paletteAfterMs)
    return () => clearTimeout(timer)
  }, [])
  const go = (address: string) => () => router.history.push(address)
  useKeys([
    { keys: 'mod+k', label: 'Search or jump', run: () => setOpen('palette') },
    { keys: '?', label: 'Show the keys', run: () => setOpen('keys') },
    ...(org === undefined
      ? []
      : [
          { keys: 'g p', label: 'Go to the pipelines', run: go(`/${org}`) },
          { keys: 'g b', label: 'Go to the builds', run: go(`/organizations/${org}/builds`) },
          { keys: 'g m', label: 'Go to my builds', run: go(`/organizations/${org}/builds?creator=me`) },
          { keys: 'g a', label: 'Go to the agents', run: go(`/organizations/${org}/agents`) },
        ]),
  ])
  return (
    <>
      <a href="#content" className={styles.skip}>
        Skip to the content
      </a>
      <TopBar onSearch={() => setOpen('palette')} />
      <Banners org={org} />
      <main id="content" tabIndex={-1} className={styles.main}>
        <Outlet />
      </main>
      {open === 'palette' && (
        <Suspense>
          <Palette org={org ?? null} onClose={() => setOpen(null)} />
        </Suspense>
      )}
      {open === 'keys' && (
        <Suspense>
          <KeyList onClose={() => setOpen(null)} />
        </Suspense>
      )}
      <SessionOver />
      <Toasts />
    </>
  )
}
