import { useNavigate } from '@tanstack/react-router'
import { Button } from '../../parts/Button.tsx'
import { Copy } from '../../parts/Copy.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { formatExact } from '../../parts/time/durations.ts'
import type { AuditEvent } from './queries.ts'
import styles from './EventDialog.module.css'
import { eventSentence } from './sentences.ts'
import { changesOf, eventWords, valueText } from './words.ts'

/** Everything that is known of an event. */
export function EventDialog({ event, onClose }: { event: AuditEvent; onClose: () => void }) {
  const navigate = useNavigate({ from: '/organizations/$org/settings/audit-log' })
  const { type, actor, subject, context, data } = event
  const narrow = (search: { type?: string; actor?: string; subject?: string }) => {
    onClose()
    void navigate({ search })
  }
  return (
    <Dialog
      title={eventSentence(event)}
      isOpen
      onClose={onClose}
      size="wide"
      actions={
        <>
          <Button onClick={() => narrow({ type })}>All of this kind</Button>
          <Button onClick={() => narrow({ subject: subject.uuid })}>All about this</Button>
          {actor !== null && (
            <Button onClick={() => narrow({ actor: actor.uuid })}>All by {actor.name}</Button>
          )}
        </>
      }
    >
      <Facts
        facts={[
          ['When', formatExact(Date.parse(event.occurred_at))],
          ['Who', actor === null ? 'The operator or the installation' : `${actor.name} (${actor.type})`],
          ['Kind', `${eventWords(type)} (${type})`],
          ['On what', `${subject.name ?? 'Without a name'} (${subject.type})`],
          [
            'Id of the event',
            <span key="id">
              <code>{event.uuid}</code> <Copy text={event.uuid} label="id" />
            </span>,
          ],
        ]}
      />
      <EventData data={data} />
      {context !== null && (
        <>
          <h3>From where</h3>
          <Facts isCode facts={Object.entries(context).map(([name, value]) => [name, valueText(value)])} />
        </>
      )}
    </Dialog>
  )
}

/** Of an update, what was and what is; of anything else, what is. */
function EventData({ data }: { data: AuditEvent['data'] }) {
  const changes = changesOf(data)
  const isUpdate = changes.some(({ before }) => before !== undefined)
  if (changes.length === 0) return <p className="muted">The event has no details.</p>
  return (
    <table className={styles.changes}>
      <thead>
        <tr>
          <th scope="col">Name</th>
          {isUpdate && <th scope="col">Before</th>}
          <th scope="col">Afterwards</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ name, before, after }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {isUpdate && <td>{before !== undefined && <code>{valueText(before)}</code>}</td>}
            <td>
              <code>{valueText(after)}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
