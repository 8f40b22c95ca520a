import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { templateQuery } from '../../api/resource-queries.ts'
import { CopyBlock } from '../../parts/Copy.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { Page } from '../../parts/Page.tsx'
import { Loading, Problem } from '../../parts/States.tsx'
import { Time } from '../../parts/time/Time.tsx'

export function PipelineTemplatePage() {
  const { org, template: id } = useParams({ from: '/organizations/$org/pipeline-templates/$template' })
  const { data: template, error, refetch } = useQuery(templateQuery(org, id))
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />
  if (template === undefined) return <Loading />
  return (
    <Page title={template.name} subtitle={template.description}>
      <Facts
        isFramed
        facts={[
          [
            'For new pipelines',
            template.available ? 'Everybody may choose it' : 'Only administrators may choose it',
          ],
          ['Changed', <Time key="changed" at={template.updated_at} />],
          ['Changed by', template.updated_by?.name ?? 'The operator'],
        ]}
      />
      <h2>Steps</h2>
      <CopyBlock text={template.configuration} label="steps" />
    </Page>
  )
}
