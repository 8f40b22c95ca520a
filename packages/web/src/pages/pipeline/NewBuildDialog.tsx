import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call, newKey } from '../../api/call.ts'
import { keyOf } from '../../api/queries.ts'
import type { Schemas } from '../../api/operations.ts'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { TextArea, TextField } from '../../parts/Field.tsx'
import { readVariables } from './variables.ts'

interface Props {
  org: string
  pipeline: Pick<Schemas['Pipeline'], 'slug' | 'name' | 'default_branch'>
  onClose: () => void
}

const builds = 'GET /v2/organizations/{org}/pipelines/{pipeline}/builds'

export function NewBuildDialog({ org, pipeline, onClose }: Props) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [key] = useState(newKey)
  const [message, setMessage] = useState('')
  const [branch, setBranch] = useState(pipeline.default_branch)
  const [commit, setCommit] = useState('HEAD')
  const [variables, setVariables] = useState('')
  const env = readVariables(variables)
  const create = useMutation({
    mutationFn: (values: Record<string, string>) =>
      call('POST /v2/organizations/{org}/pipelines/{pipeline}/builds', {
        params: { org, pipeline: pipeline.slug },
        body: { commit, branch, ...(message === '' ? {} : { message }), env: values },
        idempotencyKey: key,
      }),
    async onSuccess(build) {
      await queryClient.invalidateQueries({ queryKey: keyOf(builds) })
      onClose()
      await navigate({
        to: '/$org/$pipeline/builds/$number',
        params: { org, pipeline: pipeline.slug, number: String(build.number) },
      })
    },
  })
  return (
    <FormDialog
      title={`New build of ${pipeline.name}`}
      action="Create build"
      isBusy={create.isPending}
      onSubmit={() => {
        if (env.ok) create.mutate(env.values)
      }}
      onClose={onClose}
    >
      <TextField label="Message" value={message} placeholder="What is built, and why" onValue={setMessage} />
      <TextField label="Branch" value={branch} required onValue={setBranch} />
      <TextField
        label="Commit"
        value={commit}
        required
        hint="HEAD is the newest commit of the branch."
        onValue={setCommit}
      />
      <TextArea
        label="Environment variables"
        value={variables}
        placeholder={'NAME=value\nOTHER=value'}
        problem={env.ok ? undefined : env.problem}
        onValue={setVariables}
      />
      {create.error !== null && <p role="alert">{create.error.message}</p>}
    </FormDialog>
  )
}
