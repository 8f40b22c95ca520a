import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { Button } from '../../../parts/Button.tsx'
import { FormDialog } from '../../../parts/dialogs/FormDialog.tsx'
import { TextField } from '../../../parts/Field.tsx'
import { showLabel } from '../../../parts/labels.ts'
import { Notice } from '../../../parts/settings/Notice.tsx'
import { SectionHead } from '../../../parts/settings/SectionHead.tsx'
import { showFailure, showToast } from '../../../parts/toasts/toasts.ts'
import { archive, unarchive } from '../../archive/queries.ts'
import { PipelineSettings } from '../PipelineSettings.tsx'
import type { Pipeline } from '../queries.ts'

export function DangerPage() {
  const address = useParams({ from: '/$org/$pipeline/settings/danger' })
  return (
    <PipelineSettings address={address} name="danger">
      {({ pipeline }) => <Danger org={address.org} pipeline={pipeline} />}
    </PipelineSettings>
  )
}

function Danger({ org, pipeline }: { org: string; pipeline: Pipeline }) {
  const queryClient = useQueryClient()
  const [isDeleting, setDeleting] = useState(false)
  const isArchived = pipeline.archived_at !== null
  const setArchived = async (shouldBe: boolean) => {
    try {
      await (shouldBe ? archive : unarchive)(org, pipeline.slug)
      const undo = shouldBe ? { undo: () => void setArchived(false) } : {}
      showToast(shouldBe ? `${pipeline.name} is archived.` : `${pipeline.name} is back.`, undo)
    } catch (error) {
      showFailure(error)
    }
    await queryClient.invalidateQueries()
  }
  return (
    <>
      <SectionHead title={isArchived ? 'Take it out of the archive' : 'Archive'} />
      <Notice
        action={
          <Button isWrite onClick={() => void setArchived(!isArchived)}>
            {isArchived ? 'Unarchive' : 'Archive'}
          </Button>
        }
      >
        {isArchived
          ? 'It can be built again.'
          : 'It is not built any more. Its builds and logs stay, and it can be taken back.'}
      </Notice>
      <SectionHead title="Delete" />
      <Notice
        action={
          <Button isWrite kind="danger" icon="trash" onClick={() => setDeleting(true)}>
            Delete…
          </Button>
        }
      >
        Its builds, logs and artifacts go with it. This cannot be undone.
      </Notice>
      {isDeleting && <DeleteDialog org={org} pipeline={pipeline} onClose={() => setDeleting(false)} />}
    </>
  )
}

function DeleteDialog({ org, pipeline, onClose }: { org: string; pipeline: Pipeline; onClose: () => void }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [typed, setTyped] = useState('')
  const remove = useMutation({
    mutationFn: () =>
      call('DELETE /v2/organizations/{org}/pipelines/{pipeline}', {
        params: { org, pipeline: pipeline.slug },
      }),
    async onSuccess() {
      await navigate({ to: '/$org', params: { org } })
      await queryClient.invalidateQueries()
      showToast(`${pipeline.name} is deleted.`)
    },
  })
  // Nobody sees the names of emoji as they were typed.
  const isSure = [pipeline.name, showLabel(pipeline.name)].includes(typed.trim())
  return (
    <FormDialog
      title={`Delete ${pipeline.name}?`}
      action="Delete this pipeline"
      icon="trash"
      isDanger
      isBusy={remove.isPending}
      disabledReason={isSure ? undefined : 'Type the name first'}
      onSubmit={() => {
        if (isSure) remove.mutate()
      }}
      onClose={onClose}
    >
      <p>
        All its builds, logs, artifacts and schedules are deleted too.
        {pipeline.running_jobs_count > 0 &&
          ` ${pipeline.running_jobs_count} running ${pipeline.running_jobs_count === 1 ? 'job is' : 'jobs are'} canceled.`}
      </p>
      <TextField
        label={`Type ${showLabel(pipeline.name)} to confirm`}
        value={typed}
        autoComplete="off"
        problem={remove.error?.message}
        onValue={setTyped}
      />
    </FormDialog>
  )
}
