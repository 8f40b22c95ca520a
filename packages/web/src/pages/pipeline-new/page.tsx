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
import { connectionsQuery, type Connection } from '../connections/queries.ts'
import { reloadPipelines } from '../pipeline-settings/queries.ts'
import { createWebhook } from '../pipeline-settings/repository/health-query.ts'
import { Connected, type Created } from './Connected.tsx'
import { ConnectedRepository, type Repository } from './ConnectedRepository.tsx'
import { repositorySteps } from './example.ts'
import { FirstSteps, type Steps } from './FirstSteps.tsx'
import styles from './page.module.css'

export function NewPipelinePage() {
  const { org } = useParams({ from: '/organizations/$org/pipelines/new' })
  const { data: organization, error, refetch } = useQuery(organizationQuery(org))
  const may = organization?.viewer?.may
  if (may?.create_pipelines === true) return <NewPipeline org={org} isAdministrator={may.administer} />
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

/** A connection with credentials lists its repositories. */
const canList = ({ token, app_id: app }: Connection) => token !== null || app !== null

/** Connections and their tokens are for administrators; others name an address. */
function NewPipeline({ org, isAdministrator }: { org: string; isAdministrator: boolean }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { data: clusters = [] } = useQuery(clustersQuery(org))
  const { data: connections = [] } = useQuery({ ...connectionsQuery(org), enabled: isAdministrator })
  const [connectionId, setConnectionId] = useState('')
  const [chosen, setChosen] = useState<Repository | null>(null)
  const [created, setCreated] = useState<Created | null>(null)
  const connection = connections.find(({ id }) => id === connectionId)
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
      const address = { org, pipeline: pipeline.slug }
      const refusal =
        connection === undefined ? null : await createWebhook(address).then(() => null, messageOf)
      if (!withBuild) return { address, name, number: null, refusal }
      const build = await call('POST /v2/organizations/{org}/pipelines/{pipeline}/builds', {
        params: address,
        body: { commit: 'HEAD', branch },
        idempotencyKey: keys.build,
      })
      return { address, name, number: String(build.number), refusal }
    },
    async onSuccess(made) {
      await reloadPipelines(queryClient)
      const { address, number } = made
      if (connection !== undefined) setCreated(made)
      else if (number === null) await navigate({ to: '/$org/$pipeline', params: address })
      else await navigate({ to: '/$org/$pipeline/builds/$number', params: { ...address, number } })
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
  const choose = (next: Repository | null) => {
    setChosen(next)
    setRepository(next?.clone_url ?? '')
    if (next === null) return
    setBranch(next.default_branch ?? 'main')
    if (name === '' || name === nameOf(chosen)) setName(nameOf(next))
  }
  if (created !== null) return <Connected created={created} />
  return (
    <Page title="New pipeline" subtitle="Where the code is, and the steps that build it.">
      <form className={styles.form} onSubmit={(event) => submit(event, true)}>
        <FieldStack>
          <TextField label="Name" value={name} required problem={problemOf('name')} onValue={setName} />
          {connections.length > 0 && (
            <SelectField
              label="Where the repository is"
              value={connectionId}
              hint={connection === undefined ? undefined : 'Its webhook is created too.'}
              onValue={(id) => {
                setConnectionId(id)
                choose(null)
              }}
            >
              <option value="">At an address</option>
              {connections.map(({ id, display_name: host }) => (
                <option key={id} value={id}>
                  {showLabel(host)}
                </option>
              ))}
            </SelectField>
          )}
          {connection !== undefined && canList(connection) ? (
            <ConnectedRepository
              key={connection.id}
              org={org}
              connection={connection}
              chosen={chosen}
              onChoose={choose}
            />
          ) : (
            <TextField
              label="Repository"
              value={repository}
              required
              placeholder="git@example.com:team/project.git"
              hint="An address that git can clone, as the agents reach it."
              problem={problemOf('repository')}
              onValue={setRepository}
            />
          )}
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
              title={hasErrors ? 'Mend the steps first' : undefined}
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

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** `acme/app` suggests the name app. */
const nameOf = (repository: Repository | null) => repository?.full_name.split('/').at(-1) ?? ''
