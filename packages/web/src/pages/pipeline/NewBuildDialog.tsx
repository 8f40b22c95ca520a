import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { call, newKey } from '../../api/call.ts'
import { keyOf } from '../../api/queries.ts'
import type { Schemas } from '../../api/operations.ts'
import { Button } from '../../parts/Button.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'
import { FieldStack, TextArea, TextField } from '../../parts/Field.tsx'
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
  const formId = useId()
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
    <Dialog
      title={`New build of ${pipeline.name}`}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            form={formId}
            isBusy={create.isPending}
            disabled={create.isPending}
          >
            Create build
          </Button>
        </>
      }
    >
      <form
        id={formId}
        onSubmit={(event) => {
          event.preventDefault()
          if (env.ok) create.mutate(env.values)
        }}
      >
        <FieldStack>
          <TextField
            label="Message"
            value={message}
            placeholder="What is built, and why"
            onChange={({ target }) => setMessage(target.value)}
          />
          <TextField
            label="Branch"
            value={branch}
            required
            onChange={({ target }) => setBranch(target.value)}
          />
          <TextField
            label="Commit"
            value={commit}
            required
            hint="HEAD is the newest commit of the branch."
            onChange={({ target }) => setCommit(target.value)}
          />
          <TextArea
            label="Environment variables"
            value={variables}
            placeholder={'NAME=value\nOTHER=value'}
            problem={env.ok ? undefined : env.problem}
            onChange={({ target }) => setVariables(target.value)}
          />
          {create.error !== null && <p role="alert">{create.error.message}</p>}
        </FieldStack>
      </form>
    </Dialog>
  )
}
