import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { pipelineQuery } from '../../api/resource-queries.ts'
import { Page } from '../../parts/Page.tsx'
import { Denied, Loading, Missing, Problem } from '../../parts/States.tsx'
import { BuildsForm } from './BuildsForm.tsx'
import { Danger } from './Danger.tsx'
import { RepositoryForm } from './RepositoryForm.tsx'
import { StepsForm } from './StepsForm.tsx'
import type { Pipeline } from './update.ts'
import styles from './page.module.css'

interface Section {
  title: string
  show: (org: string, pipeline: Pipeline) => ReactNode
}

const sections: Record<string, Section> = {
  steps: { title: 'Steps', show: (org, pipeline) => <StepsForm org={org} pipeline={pipeline} /> },
  repository: {
    title: 'Repository',
    show: (org, pipeline) => <RepositoryForm org={org} pipeline={pipeline} />,
  },
  builds: { title: 'Builds', show: (org, pipeline) => <BuildsForm org={org} pipeline={pipeline} /> },
  danger: { title: 'Archive or delete', show: (org, pipeline) => <Danger org={org} pipeline={pipeline} /> },
}

export function PipelineSettingsPage() {
  const { org, pipeline: slug, section: name } = useParams({ from: '/$org/$pipeline/settings/$section' })
  const { data: pipeline, error, refetch } = useQuery(pipelineQuery(org, slug))
  const section = sections[name]
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />
  if (section === undefined) return <Missing what="This page" />
  if (pipeline === undefined) return <Loading />
  return (
    <Page title={`Settings of ${pipeline.name}`}>
      {pipeline.viewer?.may.edit === true ? (
        <div className={styles.columns}>
          <nav aria-label="Settings" className={styles.sections}>
            {Object.entries(sections).map(([each, { title }]) => (
              <Link
                key={each}
                to="/$org/$pipeline/settings/$section"
                params={{ org, pipeline: slug, section: each }}
                className={styles.section}
              >
                {title}
              </Link>
            ))}
          </nav>
          <section key={name} className={styles.content} aria-label={section.title}>
            <h2>{section.title}</h2>
            {section.show(org, pipeline)}
          </section>
        </div>
      ) : (
        <Denied title="You may not change this pipeline.">
          Changing it needs the right to manage it. An administrator of the organization gives it to a team of
          yours.
        </Denied>
      )}
    </Page>
  )
}
