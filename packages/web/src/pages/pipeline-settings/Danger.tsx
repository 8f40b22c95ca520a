import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { Button } from '../../parts/Button.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'
import { TextField } from '../../parts/Field.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import type { Pipeline } from './update.ts'
import styles from './page.module.css'

const path = '/v2/organizations/{org}/pipelines/{pipeline}'

export function Danger({ org, pipeline }: { org: string; pipeline: Pipeline }) {
  const queryClient = useQueryClient()
  const [isDeleting, setDeleting] = useState(false)
  const isArchived = pipeline.archived_at !== null
  const params = { org, pipeline: pipeline.slug }
  const setArchived = async (shouldBe: boolean) => {
    try {
      await call(`POST ${path}/${shouldBe ? 'archive' : 'unarchive'}`, { params })
      const undo = shouldBe ? { undo: () => void setArchived(false) } : {}
      showToast(shouldBe ? `${pipeline.name} is archived.` : `${pipeline.name} is back.`, undo)
    } catch (error) {
      showFailure(error)
    }
    await queryClient.invalidateQueries()
  }
  return (
    <>
      <div className={`card ${styles.box}`}>
        <div>
          <h3>{isArchived ? 'Take it out of the archive' : 'Archive'}</h3>
          <p className={styles.note}>
            {isArchived
              ? 'It can be built again.'
              : 'It is not built any more. Its builds and logs stay, and it can be taken back.'}
          </p>
        </div>
        <Button isWrite onClick={() => void setArchived(!isArchived)}>
          {isArchived ? 'Unarchive' : 'Archive'}
        </Button>
      </div>
      <div className={`card ${styles.box}`}>
        <div>
          <h3>Delete</h3>
          <p className={styles.note}>Its builds, logs and artifacts go with it. This cannot be undone.</p>
        </div>
        <Button isWrite kind="danger" icon="trash" onClick={() => setDeleting(true)}>
          Delete…
        </Button>
      </div>
      {isDeleting && <DeleteDialog org={org} pipeline={pipeline} onClose={() => setDeleting(false)} />}
    </>
  )
}

function DeleteDialog({ org, pipeline, onClose }: { org: string; pipeline: Pipeline; onClose: () => void }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [typed, setTyped] = useState('')
  const remove = useMutation({
    mutationFn: () => call(`DELETE ${path}`, { params: { org, pipeline: pipeline.slug } }),
    async onSuccess() {
      await navigate({ to: '/$org', params: { org } })
      await queryClient.invalidateQueries()
      showToast(`${pipeline.name} is deleted.`)
    },
  })
  return (
    <Dialog
      title={`Delete ${pipeline.name}?`}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button
            isWrite
            kind="danger"
            icon="trash"
            disabled={typed !== pipeline.name || remove.isPending}
            isBusy={remove.isPending}
            onClick={() => remove.mutate()}
          >
            Delete this pipeline
          </Button>
        </>
      }
    >
      <p>All its builds, logs and artifacts are deleted too. Running jobs are canceled.</p>
      <TextField
        label={`Type ${pipeline.name} to confirm`}
        value={typed}
        autoComplete="off"
        problem={remove.error?.message}
        onValue={setTyped}
      />
    </Dialog>
  )
}
