import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { Button } from '../../parts/Button.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'
import { SelectField } from '../../parts/Field.tsx'
import { createToken, tokensQuery } from './token-queries.ts'
import { queuesQuery, type Cluster } from './queries.ts'
import { StartCommands } from './StartCommands.tsx'

interface Props {
  org: string
  clusters: ReadonlyArray<Pick<Cluster, 'id' | 'name'>>
  /** Chosen at the beginning. */
  queueKey?: string
  onClose: () => void
}

/** Makes a token, and shows the command that starts an agent with it. The token is shown here once. */
export function StartAgentDialog({ org, clusters, queueKey = '', onClose }: Props) {
  const queryClient = useQueryClient()
  const [key] = useState(newKey)
  const [cluster, setCluster] = useState(clusters[0]?.id ?? '')
  const [queue, setQueue] = useState(queueKey)
  const { data: queues = [] } = useQuery(queuesQuery(org, cluster))
  const create = useMutation({
    mutationFn: () =>
      createToken(
        { org, cluster },
        { description: `Agent token of ${new Date().toISOString().slice(0, 10)}` },
        key,
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: tokensQuery({ org, cluster }).queryKey }),
  })
  const token = create.data?.token
  return (
    <Dialog
      title="Start an agent"
      isOpen
      onClose={onClose}
      size="wide"
      actions={
        token === undefined ? (
          <Button
            isWrite
            kind="primary"
            isBusy={create.isPending}
            disabled={create.isPending}
            onClick={() => create.mutate()}
          >
            Make the command
          </Button>
        ) : (
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        )
      }
    >
      {token === undefined ? (
        <>
          {clusters.length > 1 && (
            <SelectField label="Cluster" value={cluster} onValue={setCluster}>
              {clusters.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </SelectField>
          )}
          <SelectField label="Queue" value={queue} onValue={setQueue}>
            <option value="">The cluster’s default</option>
            {queues.map((each) => (
              <option key={each.id} value={each.key}>
                {each.key}
              </option>
            ))}
          </SelectField>
          {create.error !== null && <p role="alert">{create.error.message}</p>}
        </>
      ) : (
        <StartCommands token={token} queue={queue} />
      )}
    </Dialog>
  )
}
