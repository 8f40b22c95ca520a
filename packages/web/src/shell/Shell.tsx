import { Outlet, useRouter } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { followDownloads } from '../api/downloads.ts'
import { useKeys, type KeyAction } from '../parts/keys.ts'
import { loadMenuList } from '../parts/Menu.tsx'
import { showFailure } from '../parts/toasts/toasts.ts'
import { Toasts } from '../parts/toasts/Toasts.tsx'
import { Banners } from './Banners.tsx'
import { focusPage, keepFocus } from './keep-focus.ts'
import { storeLastOrganization } from './last-organization.ts'
import { useNamedOrganization, useOrganization } from './organization.ts'
import { sections } from './sections.ts'
import { SessionOver } from './SessionOver.tsx'
import { TopBar } from './TopBar.tsx'
import styles from './Shell.module.css'

const loadPalette = () => import('./Palette.tsx')
const Palette = lazy(() => loadPalette().then((module) => ({ default: module.Palette })))
const KeyList = lazy(() => import('./KeyList.tsx').then((module) => ({ default: module.KeyList })))

const overlaysAfterMs = 2000

/** What cannot be loaded now is tried again when it is opened. */
function loadOverlays(): void {
  for (const load of [loadPalette, loadMenuList]) load().catch(() => undefined)
}

export function Shell() {
  const org = useOrganization()
  const named = useNamedOrganization()
  const router = useRouter()
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null)
  useEffect(() => {
    if (named !== null) storeLastOrganization(named)
  }, [named])
  useEffect(() => followDownloads(showFailure), [])
  useEffect(() => keepFocus(), [])
  useEffect(() => {
    let before: Element | null = null
    const ends = [
      router.subscribe('onBeforeNavigate', () => (before = document.activeElement)),
      router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
        if (fromLocation !== undefined && pathChanged) focusPage(before)
      }),
    ]
    return () => ends.forEach((end) => end())
  }, [router])
  // What is typed right after the key must reach the palette or the menu, so they are there before they are opened.
  useEffect(() => {
    const timer = setTimeout(loadOverlays, overlaysAfterMs)
    return () => clearTimeout(timer)
  }, [])
  const lead = (keys: string, label: string, to: string): KeyAction => ({
    keys,
    label,
    to,
    run: () => router.history.push(to),
  })
  useKeys([
    { keys: 'mod+k', label: 'Search or jump', run: () => setOpen('palette') },
    { keys: '?', label: 'Show the keys', run: () => setOpen('keys') },
    ...(org === null
      ? []
      : [
          ...sections.map(({ keys, title, path }) => lead(keys, title, path(org))),
          lead('g m', 'My builds', `/organizations/${org}/builds?creator=me`),
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
          <Palette org={org} onClose={() => setOpen(null)} />
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
