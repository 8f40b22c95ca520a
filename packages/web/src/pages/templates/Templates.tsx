import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { keyOf } from '../../api/queries.ts'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { showLabel } from '../../parts/labels.ts'
import { Menu } from '../../parts/Menu.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/time/Time.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { deleteTemplate, templatesListQuery, type Template } from './queries.ts'
import { TemplateDialog } from './TemplateDialog.tsx'

export function Templates({ org, mayManage }: { org: string; mayManage: boolean }) {
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(templatesListQuery(org))
  const [open, setOpen] = useState<{ act: 'edit' | 'delete'; template: Template } | null>(null)
  const templates = list.data?.pages.flatMap(({ rows }) => rows.map((row) => ({ ...row, id: row.uuid })))
  const close = () => setOpen(null)
  if (templates === undefined) return <NotLoaded query={list} rows={3} />
  if (templates.length === 0)
    return (
      <Empty title="No templates yet">
        Pipelines that take their steps from a template change with it, all at once.
      </Empty>
    )
  return (
    <>
      <Table
        label="Pipeline templates"
        rows={templates}
        columns={[
          {
            head: 'Name',
            titleOf: ({ name }) => name,
            render: ({ uuid, name }) => (
              <Link to="/organizations/$org/pipeline-templates/$template" params={{ org, template: uuid }}>
                {showLabel(name)}
              </Link>
            ),
          },
          {
            head: 'Who may choose it',
            render: ({ available }) => (available ? 'Everybody who makes pipelines' : 'Administrators'),
          },
          {
            head: 'Description',
            look: 'aside',
            titleOf: ({ description }) => description,
            render: ({ description }) => description,
          },
          { head: 'Changed', look: 'aside', render: ({ updated_at: at }) => <Time at={at} /> },
        ]}
        {...(mayManage
          ? {
              renderAction: (template: Template) => (
                <Menu
                  label={`More about the template ${showLabel(template.name)}`}
                  entries={[
                    { label: 'Edit…', icon: 'pencil', action: () => setOpen({ act: 'edit', template }) },
                    {
                      label: 'Delete…',
                      icon: 'trash',
                      isDanger: true,
                      action: () => setOpen({ act: 'delete', template }),
                    },
                  ]}
                >
                  <Icon name="ellipsis" />
                </Menu>
              ),
            }
          : {})}
      />
      <ShowMore list={list} />
      {open?.act === 'edit' && <TemplateDialog org={org} template={open.template} onClose={close} />}
      {open?.act === 'delete' && (
        <ConfirmDialog
          title={`Delete the template ${open.template.name}?`}
          action="Delete this template"
          onConfirm={async () => {
            await deleteTemplate(org, open.template.uuid)
            await queryClient.invalidateQueries({
              queryKey: keyOf('GET /v2/organizations/{org}/pipeline-templates'),
            })
            showToast(`The template ${open.template.name} is deleted.`)
          }}
          onClose={close}
        >
          <p>Nobody can choose it any more. It stays as long as a pipeline has it.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
