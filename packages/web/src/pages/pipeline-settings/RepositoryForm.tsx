import { useState } from 'react'
import { Copy } from '../../parts/Copy.tsx'
import { Form, TextField } from '../../parts/Field.tsx'
import { SaveBar } from './SaveBar.tsx'
import { useUpdatePipeline, type Pipeline } from './update.ts'
import styles from './page.module.css'

export function RepositoryForm({ org, pipeline }: { org: string; pipeline: Pipeline }) {
  const [repository, setRepository] = useState(pipeline.repository)
  const [branch, setBranch] = useState(pipeline.default_branch)
  const update = useUpdatePipeline(org, pipeline)
  const { webhook_url: webhookUrl } = pipeline.provider
  return (
    <Form onSubmit={() => update.mutate({ repository, default_branch: branch })}>
      <TextField
        label="Repository"
        value={repository}
        required
        hint="An address that git can clone, as the agents reach it."
        onValue={setRepository}
      />
      <TextField label="Default branch" value={branch} required onValue={setBranch} />
      {webhookUrl !== '' && (
        <p className={styles.note}>
          Webhook of the repository’s host: <code>{webhookUrl}</code>{' '}
          <Copy text={webhookUrl} label="address of the webhook" />
        </p>
      )}
      <SaveBar
        isChanged={repository !== pipeline.repository || branch !== pipeline.default_branch}
        isSaving={update.isPending}
        error={update.error}
      />
    </Form>
  )
}
