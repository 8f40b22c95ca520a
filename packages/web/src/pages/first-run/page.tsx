import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { pipelineQuery } from '../../api/resource-queries.ts'
import { Button, LinkButton } from '../../parts/Button.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { Page } from '../../parts/Page.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { Loading, Problem } from '../../parts/States.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import { agentsQuery } from '../agents/queries.ts'
import { StartAgentDialog } from '../cluster/StartAgentDialog.tsx'
import { clustersQuery } from '../clusters/queries.ts'
import { NewBuildDialog } from '../pipeline/NewBuildDialog.tsx'
import { pipelinesIn, trendsQuery } from '../pipelines/queries.ts'
import { demoSlug, stepsOf, type FirstRun, type Step } from './steps.ts'
import styles from './page.module.css'

const refetchInterval = 3000

export function FirstRunPage() {
  const { org } = useParams({ from: '/organizations/$org/start' })
  const { data: organization, error } = useQuery(organizationQuery(org))
  const isMember = organization !== undefined
  const { data: trends } = useQuery({ ...trendsQuery(org), refetchInterval, enabled: isMember })
  const { data: agents } = useInfiniteQuery({ ...agentsQuery(org, {}), refetchInterval, enabled: isMember })
  const { data: clusters = [] } = useQuery({ ...clustersQuery(org), enabled: isMember })
  const pipelines = pipelinesIn(trends ?? [])
  const hasDemo = pipelines.some(({ slug }) => slug === demoSlug)
  const { data: demo } = useQuery({ ...pipelineQuery(org, demoSlug), enabled: hasDemo })
  const [open, setOpen] = useState<'agent' | 'build' | null>(null)
  if (!isMember && error !== null) return <Problem error={error} />
  if (trends === undefined || agents === undefined) return <Loading />
  const facts: FirstRun = {
    hasAgent: agents.pages.some(({ rows }) => rows.length > 0),
    demoBuild: trends.find((trend) => trend.pipeline_slug === demoSlug)?.builds.at(-1) ?? null,
    hasDemo,
    hasOwnPipeline: pipelines.some(({ slug }) => slug !== demoSlug),
  }
  const manageable = clusters.filter(({ viewer }) => viewer?.may.manage === true)
  const may: Record<Step['id'], boolean> = {
    agent: manageable.length > 0,
    demo: demo?.viewer?.may.build === true,
    pipeline: organization?.viewer?.may.create_pipelines === true,
  }
  const actions: Record<Step['id'], ReactNode> = {
    agent: <Button onClick={() => setOpen('agent')}>Start an agent</Button>,
    demo: <Button onClick={() => setOpen('build')}>Build the demo</Button>,
    pipeline: (
      <LinkButton to="/organizations/$org/pipelines/new" params={{ org }}>
        New pipeline
      </LinkButton>
    ),
  }
  return (
    <Page
      title="Welcome to Millrace"
      subtitle="Three steps to your first build. Each is ticked as soon as it is done."
    >
      <ol className={`card ${styles.steps}`}>
        {stepsOf(facts).map(({ id, title, isDone }) => (
          <li key={id} className={isDone ? `${styles.step} ${styles.done}` : styles.step}>
            <Icon
              name={isDone ? 'circle-check' : 'circle-dashed'}
              size={20}
              label={isDone ? 'Done' : 'To do'}
            />
            <span className={styles.title}>{title}</span>
            {id === 'demo' && facts.demoBuild !== null ? (
              <DemoBuild org={org} build={facts.demoBuild} />
            ) : (
              !isDone &&
              (may[id] ? actions[id] : <span className="muted">An administrator can do this.</span>)
            )}
          </li>
        ))}
      </ol>
      <p className="muted">
        Then:{' '}
        <Link to="/$org" params={{ org }}>
          all pipelines
        </Link>
        , or the <a href="/docs">API</a> that does everything these pages do.
      </p>
      {open === 'agent' && manageable.length > 0 && (
        <StartAgentDialog org={org} clusters={manageable} onClose={() => setOpen(null)} />
      )}
      {open === 'build' && demo !== undefined && (
        <NewBuildDialog org={org} pipeline={demo} onClose={() => setOpen(null)} />
      )}
    </Page>
  )
}

const DemoBuild = ({ org, build }: { org: string; build: NonNullable<FirstRun['demoBuild']> }) => (
  <Link
    to="/$org/$pipeline/builds/$number"
    params={{ org, pipeline: demoSlug, number: String(build.number) }}
  >
    <StateBadge kind="build" state={build.state} /> Build #{build.number}
  </Link>
)
