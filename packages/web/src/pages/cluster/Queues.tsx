import { Link } from '@tanstack/react-router'
import { showLabel } from '../../parts/labels.ts'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Table } from '../../parts/Table.tsx'
import type { Queue } from './queries.ts'

interface Props {
  queues: readonly Queue[]
  defaultId: string | null
}

export const Queues = ({ queues, defaultId }: Props) => (
  <Table
    label="Queues"
    rows={queues}
    columns={[
      {
        head: 'Key',
        titleOf: ({ key }) => key,
        render: ({ id, key, web_url: url }) => (
          <>
            <Link to={new URL(url).pathname}>{key}</Link>
            {id === defaultId && <span className="muted"> · default</span>}
          </>
        ),
      },
      {
        head: 'State',
        render: ({ dispatch_paused: isPaused }) => (
          <StateBadge kind="queue" state={isPaused ? 'paused' : 'active'} />
        ),
      },
      { head: 'Waiting', look: 'number', render: ({ counts }) => counts?.waiting },
      { head: 'Running', look: 'number', render: ({ counts }) => counts?.running },
      { head: 'Agents', look: 'number', render: ({ counts }) => counts?.agents },
      {
        head: 'Description',
        look: 'muted',
        render: ({ description, dispatch_paused: isPaused, dispatch_paused_note: note }) =>
          isPaused && note !== null ? `Paused: ${showLabel(note)}` : showLabel(description ?? ''),
      },
    ]}
  />
)
