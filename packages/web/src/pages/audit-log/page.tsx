import { useInfiniteQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { download } from '../../api/downloads.ts'
import { showFailure } from '../../parts/toasts/toasts.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { EventDialog } from './EventDialog.tsx'
import { Filters } from './Filters.tsx'
import { auditEventsQuery, csvAddress, type AuditEvent } from './queries.ts'
import type { AuditSearch } from './search.ts'
import { eventSentence } from './sentences.ts'
import { eventWords } from './words.ts'

export function AuditLogPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/audit-log' })
  const search = useSearch({ from: '/organizations/$org/settings/audit-log' })
  return (
    <OrganizationSettings
      org={org}
      name="audit-log"
      subtitle="Who changed what, and from where. Nobody can change or delete an event."
      actions={
        <Button
          icon="download"
          onClick={() => void download(csvAddress(org, search), `audit-log-${org}.csv`).catch(showFailure)}
        >
          Download as CSV
        </Button>
      }
    >
      <Filters search={search} />
      <Events org={org} search={search} />
    </OrganizationSettings>
  )
}

function Events({ org, search }: { org: string; search: AuditSearch }) {
  const list = useInfiniteQuery(auditEventsQuery(org, search))
  const [shown, setShown] = useState<AuditEvent | null>(null)
  const rows = list.data?.pages.flatMap((page) => page.rows.map((row) => ({ ...row, id: row.uuid })))
  if (rows === undefined) return <NotLoaded query={list} />
  if (rows.length === 0) return <Empty title="No event has been found.">Change or clear the filters.</Empty>
  return (
    <>
      <Table
        label="Audit events"
        rows={rows}
        columns={[
          { head: 'When', look: 'muted', render: ({ occurred_at: at }) => <Time at={at} /> },
          { head: 'What', titleOf: eventSentence, render: eventSentence },
          { head: 'Kind', look: 'aside', render: ({ type }) => eventWords(type) },
        ]}
        renderAction={(event) => (
          <Button aria-label={`Show ${eventWords(event.type)}`} onClick={() => setShown(event)}>
            Show
          </Button>
        )}
      />
      <ShowMore list={list} />
      {shown !== null && <EventDialog event={shown} onClose={() => setShown(null)} />}
    </>
  )
}
