// The command palette: actions of the page with their keys, pages, and what the server finds.
import { Combobox, ComboboxItem, ComboboxList, ComboboxProvider } from '@ariakit/react/combobox'
import { Dialog } from '@ariakit/react/dialog'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams, useRouter } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { listKeyActions, showKeys } from '../parts/keys.ts'
import { Icon } from '../parts/Icon.tsx'
import { findEntries, foundEntries, pageEntries, withKeys, type PaletteEntry } from './palette-entries.ts'
import { organizationQuery, searchQuery } from './queries.ts'
import { recentBuildEntries, recentPipelineEntries } from './recent.ts'
import { setTheme } from './theme.ts'
import styles from './Palette.module.css'

/** Who has opened the palette has left the rows that arrow keys move through. */
const isUseful = (keys: string) => keys !== 'mod+k' && !keys.startsWith('Arrow')

export function Palette({ org, onClose }: { org: string | null; onClose: () => void }) {
  const router = useRouter()
  const { pipeline } = useParams({ strict: false })
  const [text, setText] = useState('')
  const [actions] = useState(listKeyActions)
  const wanted = useDeferredValue(text.trim())
  const client = useQueryClient()
  const [recent] = useState(() => [...recentPipelineEntries(client, org), ...recentBuildEntries(client, org)])
  const search = useQuery(searchQuery(org, wanted))
  const organization = useQuery({ ...organizationQuery(org ?? ''), enabled: org !== null })
  const may = organization.data?.viewer?.may ?? null
  const own: PaletteEntry[] = [
    ...actions
      .filter(({ keys, to }) => isUseful(keys) && to === undefined)
      .map(({ keys, label, run }) => ({ id: `key ${keys}`, title: label, keys, icon: 'zap' as const, run })),
    ...pageEntries(org, may).map((entry) => withKeys(entry, actions)),
    ...recent,
    { id: 'theme light', title: 'Light theme', icon: 'sun', run: () => setTheme('light') },
    { id: 'theme dark', title: 'Dark theme', icon: 'moon', run: () => setTheme('dark') },
    { id: 'theme system', title: 'Theme of the system', icon: 'monitor', run: () => setTheme('system') },
  ]
  const entries = findEntries(own, wanted, {
    org,
    pipeline: pipeline ?? null,
    found: foundEntries(search.data ?? []),
  })
  const choose = (entry: PaletteEntry) => {
    onClose()
    if (entry.run !== undefined) entry.run()
    else if (entry.to !== undefined) router.history.push(entry.to)
  }
  return (
    <Dialog
      open
      onClose={onClose}
      aria-label="Search or jump"
      className={styles.palette}
      backdrop={<div className={styles.backdrop} />}
    >
      <ComboboxProvider resetValueOnHide setValue={setText}>
        <div className={styles.field}>
          <Icon name="search" />
          <Combobox
            autoSelect="always"
            maxLength={200}
            placeholder="Pipeline, #build, commit, agent, page or action"
            aria-label="Search or jump"
            className={styles.input}
          />
        </div>
        <ComboboxList alwaysVisible className={styles.list} aria-label="Results">
          {entries.map((entry) => (
            <ComboboxItem
              key={entry.id}
              value={entry.id}
              setValueOnClick={false}
              hideOnClick={false}
              className={styles.item}
              onClick={() => choose(entry)}
            >
              <Icon name={entry.icon} />
              <span className="truncated">{entry.title}</span>
              {entry.keys !== undefined ? (
                <kbd className={`truncated ${styles.subtitle}`}>{showKeys(entry.keys)}</kbd>
              ) : (
                entry.subtitle !== undefined && (
                  <span className={`truncated ${styles.subtitle}`}>{entry.subtitle}</span>
                )
              )}
            </ComboboxItem>
          ))}
        </ComboboxList>
        <p className={styles.none} role="status">
          {search.error !== null
            ? `The search failed. ${search.error.message}`
            : entries.length > 0
              ? ''
              : search.isFetching
                ? 'Searching…'
                : `Nothing found for “${wanted}”.`}
        </p>
      </ComboboxProvider>
    </Dialog>
  )
}
