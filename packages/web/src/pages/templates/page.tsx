import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { TemplateDialog } from './TemplateDialog.tsx'
import { Templates } from './Templates.tsx'

export function TemplatesPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/templates' })
  const { data: organization } = useQuery(organizationQuery(org))
  const [isNewOpen, setNewOpen] = useState(false)
  const mayManage = organization?.viewer?.may.administer === true
  return (
    <OrganizationSettings
      org={org}
      name="templates"
      subtitle="Steps that many pipelines share. A new pipeline can take one, and follows it."
      actions={
        mayManage && (
          <Button isWrite kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
            New template
          </Button>
        )
      }
    >
      <Templates org={org} mayManage={mayManage} />
      {isNewOpen && <TemplateDialog org={org} template={null} onClose={() => setNewOpen(false)} />}
    </OrganizationSettings>
  )
}
