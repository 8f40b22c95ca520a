import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { organizationQuery } from '../../shell/queries.ts'
import { OrganizationSettings } from '../settings/OrganizationSettings.tsx'
import { RuleDialog } from './RuleDialog.tsx'
import { Rules } from './Rules.tsx'

export function RulesPage() {
  const { org } = useParams({ from: '/organizations/$org/settings/rules' })
  const { data: organization } = useQuery(organizationQuery(org))
  const [isNewOpen, setNewOpen] = useState(false)
  const mayManage = organization?.viewer?.may.administer === true
  return (
    <OrganizationSettings
      org={org}
      name="rules"
      subtitle="Clusters keep their pipelines apart. A rule lets one pipeline use another one of a different cluster."
      actions={
        mayManage && (
          <Button isWrite kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
            New rule
          </Button>
        )
      }
    >
      <Rules org={org} mayManage={mayManage} />
      {isNewOpen && <RuleDialog org={org} rule={null} onClose={() => setNewOpen(false)} />}
    </OrganizationSettings>
  )
}
