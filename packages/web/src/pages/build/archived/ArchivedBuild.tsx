// A build that retention has archived: one page to read, without views, live parts and actions.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { BuildAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import { LinkButton } from '../../../parts/Button.tsx'
import { Page } from '../../../parts/Page.tsx'
import { Notice } from '../../../parts/settings/Notice.tsx'
import { StateBadge } from '../../../parts/state-badge/StateBadge.tsx'
import { NotLoaded } from '../../../parts/States.tsx'
import { Time } from '../../../parts/time/Time.tsx'
import { detailOf } from '../../builds/build-facts.ts'
import { BuildFacts } from '../BuildFacts.tsx'
import { tabTitle } from '../tab-title.ts'
import { Markdown } from '../tabs/Markdown.tsx'
import styles from './ArchivedBuild.module.css'
import { ArchivedArtifacts } from './ArchivedArtifacts.tsx'
import { ArchivedJobs } from './ArchivedJobs.tsx'
import { ArchivedTests } from './ArchivedTests.tsx'
import { archivedBuildQuery } from './queries.ts'

interface Props {
  address: BuildAddress
  build: Schemas['Build']
  title: string
}

export function ArchivedBuild({ address, build, title }: Props) {
  const { org, pipeline } = address
  return (
    <Page
      title={title}
      tabTitle={tabTitle(build, pipeline)}
      before={<StateBadge kind="build" state={build.state} detail={detailOf(build)} />}
      subtitle={<BuildFacts address={address} build={build} />}
    >
      <Notice
        action={
          <LinkButton to="/$org/$pipeline/archived_builds" params={{ org, pipeline }}>
            All archived builds
          </LinkButton>
        }
      >
        This build was archived {build.archived_at !== undefined && <Time at={build.archived_at} />}. It can
        be read, but not repeated.
      </Notice>
      <Content address={address} />
    </Page>
  )
}

function Content({ address }: { address: BuildAddress }) {
  const query = useQuery(archivedBuildQuery(address))
  if (query.data === undefined) return <NotLoaded query={query} />
  const { annotations, artifacts, test_runs: runs } = query.data
  return (
    <>
      <Part title="Jobs">
        <ArchivedJobs address={address} document={query.data} />
      </Part>
      {annotations.length > 0 && (
        <Part title="Annotations">
          {annotations.map(({ id, context, body }) => (
            <article
              key={id}
              className={`card prose ${styles.annotation}`}
              aria-label={`Annotation ${context}`}
            >
              <Markdown source={body} />
            </article>
          ))}
        </Part>
      )}
      {runs.length > 0 && (
        <Part title="Tests">
          <ArchivedTests runs={runs} />
        </Part>
      )}
      {artifacts.length > 0 && (
        <Part title="Artifacts">
          <ArchivedArtifacts artifacts={artifacts} />
        </Part>
      )}
    </>
  )
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className={styles.part} aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
)
