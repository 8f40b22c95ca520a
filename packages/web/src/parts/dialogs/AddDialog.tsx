import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../Button.tsx'
import { showLabel } from '../labels.ts'
import { SearchBox } from '../SearchBox.tsx'
import { NotLoaded } from '../States.tsx'
import { Table } from '../Table.tsx'
import { showFailure } from '../toasts/toasts.ts'
import { Dialog } from './Dialog.tsx'

interface Choice {
  id: string
  name: string
  detail: string
}

interface Props {
  title: string
  /** "Find a member". */
  searchLabel: string
  /** The first of those that match. */
  find: (text: string, signal: AbortSignal) => Promise<Choice[]>
  /** Tells what is found from what other dialogs find. */
  findKey: readonly unknown[]
  /** The ids of those that are there already. */
  present: ReadonlySet<string>
  onAdd: (id: string, name: string) => Promise<unknown>
  onClose: () => void
}

/** Finds what can be added, and stays open for the next. */
export function AddDialog({ title, searchLabel, find, findKey, present, onAdd, onClose }: Props) {
  const [text, setText] = useState('')
  const [adding, setAdding] = useState<string | null>(null)
  const found = useQuery({
    queryKey: [...findKey, 'found', text],
    queryFn: ({ signal }) => find(text, signal),
    placeholderData: keepPreviousData,
  })
  const add = async (id: string, name: string) => {
    setAdding(id)
    try {
      await onAdd(id, name)
    } catch (error) {
      showFailure(error)
    }
    setAdding(null)
  }
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      size="wide"
      actions={
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <SearchBox label={searchLabel} text={text} onSearch={setText} />
      {found.data === undefined ? (
        <NotLoaded query={found} rows={3} />
      ) : found.data.length === 0 ? (
        <p role="status">Nothing found.</p>
      ) : (
        <Table
          label="Found"
          rows={found.data}
          columns={[
            { head: 'Name', render: ({ name }) => name },
            { head: 'Address', look: 'aside', render: ({ detail }) => detail },
          ]}
          renderAction={({ id, name }) =>
            present.has(id) ? (
              <span className="muted">Added</span>
            ) : (
              <Button
                aria-label={`Add ${showLabel(name)}`}
                isBusy={adding === id}
                disabled={adding !== null}
                onClick={() => void add(id, name)}
              >
                Add
              </Button>
            )
          }
        />
      )}
    </Dialog>
  )
}
