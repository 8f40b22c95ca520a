import { showLabel } from '../../parts/labels.ts'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { ApiFailure, call, newKey } from '../../api/call.ts'

import { Button } from '../../parts/Button.tsx'
import { FieldStack, SelectField, TextField } from '../../parts/Field.tsx'
import { Page } from '../../parts/Page.tsx'
import { Denied, Loading, Problem } from '../../parts/States.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import { clustersQuery } from '../clusters/queries.ts'
import { reloadPipelines } from '../pipeline-settings/queries.ts'
import { repositorySteps } from './example.ts'
import { FirstSteps, type Steps } from './FirstSteps.tsx'
import styles from './page.module.css'

export function NewPipelinePage() {
  const { org } = useParams({ from: '/organizations/$org/pipelines/new' })
  const { data: organization, error, refetch } = useQuery(organizationQuery(org))
  if (organization?.viewer?.may.create_pipelines === true) return <NewPipeline org={org} />
  return (
    <Page title="New pipeline">
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {error === null && organization === undefined && <Loading rows={4} />}
      {organization !== undefined && (
        <Denied title="You may not create pipelines here.">
          Administrators of {organization.name} may, and members of a team that may create pipelines. Ask one
          of them.
        </Denied>
      )}
    </Page>
  )
}

function NewPipeline({ org }: { org: string }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { data: clusters = [] } = useQuery(clustersQuery(org))
  const [keys] = useState(() => ({ pipeline: newKey(), build: newKey() }))
  const [name, setName] = useState('')
  const [repository, setRepository] = useState('')
  const [branch, setBranch] = useState('main')
  const [clusterId, setClusterId] = useState('')
  const [steps, setSteps] = useState<Steps>({ configuration: repositorySteps })
  const [hasErrors, setHasErrors] = useState(false)
  const create = useMutation({
    async mutationFn({ withBuild }: { withBuild: boolean }) {
      const pipeline = await call('POST /v2/organizations/{org}/pipelines', {
        params: { org },
        body: {
          name,
          repository,
          default_branch: branch,
          ...steps,
          ...(clusterId === '' ? {} : { cluster_id: clusterId }),
        },
        idempotencyKey: keys.pipeline,
      })
      if (!withBuild) return { slug: pipeline.slug, number: null }
      const build = await call('POST /v2/organizations/{org}/pipelines/{pipeline}/builds', {
        params: { org, pipeline: pipeline.slug },
        body: { commit: 'HEAD', branch },
        idempotencyKey: keys.build,
      })
      return { slug: pipeline.slug, number: String(build.number) }
    },
    async onSuccess({ slug: pipeline, number }) {
      await reloadPipelines(queryClient)
      if (number === null) await navigate({ to: '/$org/$pipeline', params: { org, pipeline } })
      else await navigate({ to: '/$org/$pipeline/builds/$number', params: { org, pipeline, number } })
    },
    // A refused request was not carried out, and the next try is another one.
    onError: () => Object.assign(keys, { pipeline: newKey(), build: newKey() }),
  })
  const failure = create.error instanceof ApiFailure ? create.error : null
  const problemOf = (field: string) => failure?.fields.find((each) => each.field === field)?.code
  const submit = (event: FormEvent, withBuild: boolean) => {
    event.preventDefault()
    create.mutate({ withBuild })
  }
  return (
    <Page title="New pipeline" subtitle="Where the code is, and the steps that build it.">
      <form className={styles.form} onSubmit={(event) => submit(event, true)}>
        <FieldStack>
          <TextField label="Name" value={name} required problem={problemOf('name')} onValue={setName} />
          <TextField
            label="Repository"
            value={repository}
            required
            placeholder="git@example.com:team/project.git"
            hint="An address that git can clone, as the agents reach it."
            problem={problemOf('repository')}
            onValue={setRepository}
          />
          <TextField label="Default branch" value={branch} required onValue={setBranch} />
          <SelectField
            label="Cluster"
            value={clusterId}
            hint="Whose agents run the jobs."
            onValue={setClusterId}
          >
            <option value="">The organization’s default</option>
            {clusters.map((cluster) => (
              <option key={cluster.id} value={cluster.id}>
                {showLabel(cluster.name)}
              </option>
            ))}
          </SelectField>
          {create.error !== null && (
            <p role="alert" className={styles.refused}>
              {create.error.message}
            </p>
          )}
          {hasErrors && <p className={styles.refused}>The steps have errors: mend them first.</p>}
          <div className={styles.actions}>
            <Button
              isWrite
              kind="primary"
              type="submit"
              icon="play"
              isBusy={create.isPending}
              disabled={create.isPending || hasErrors}
              title={hasErrors ? 'Mend the steps first' : undefined}
            >
              Create and build
            </Button>
            <Button
              isWrite
              disabled={create.isPending || hasErrors}
              onClick={(event) => submit(event, false)}
            >
              Create
            </Button>
          </div>
        </FieldStack>
        <FirstSteps org={org} onChange={setSteps} onChecked={setHasErrors} />
      </form>
    </Page>
  )
}
