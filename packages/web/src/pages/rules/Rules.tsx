import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Icon } from '../../parts/Icon.tsx'
import { showLabel } from '../../parts/labels.ts'
import { Menu } from '../../parts/Menu.tsx'
import { Empty, NotLoaded, ShowMore } from '../../parts/States.tsx'
import { Table } from '../../parts/Table.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import { actionNames, deleteRule, rulesQuery, type Rule } from './queries.ts'
import { RuleDialog } from './RuleDialog.tsx'

export function Rules({ org, mayManage }: { org: string; mayManage: boolean }) {
  const queryClient = useQueryClient()
  const list = useInfiniteQuery(rulesQuery(org))
  const [open, setOpen] = useState<{ act: 'edit' | 'delete'; rule: Rule } | null>(null)
  const rules = list.data?.pages.flatMap(({ rows }) => rows.map((rule) => ({ ...rule, id: rule.uuid })))
  if (rules === undefined) return <NotLoaded query={list} rows={3} />
  if (rules.length === 0)
    return (
      <Empty title="No rules yet">
        Pipelines trigger builds and read artifacts of their own cluster only.
        {!mayManage && ' Administrators of the organization make rules.'}
      </Empty>
    )
  const close = () => setOpen(null)
  return (
    <>
      <Table
        label="Rules"
        rows={rules}
        columns={[
          { head: 'Pipeline', render: ({ source }) => <Pipeline org={org} pipeline={source} /> },
          { head: 'May', look: 'muted', render: ({ type }) => actionNames[type] },
          { head: 'Other pipeline', render: ({ target }) => <Pipeline org={org} pipeline={target} /> },
          {
            head: 'Only if',
            look: 'aside',
            titleOf: ({ conditions }) => conditions.join('\n'),
            render: ({ conditions }) => conditions.length > 0 && <code>{conditions.join(' and ')}</code>,
          },
          {
            head: 'Description',
            look: 'aside',
            titleOf: ({ description }) => description ?? undefined,
            render: ({ description }) => description,
          },
        ]}
        {...(mayManage
          ? {
              renderAction: (rule: Rule) => (
                <Menu
                  label={`More about the rule of ${nameOf(rule.source)}`}
                  entries={[
                    { label: 'Edit…', icon: 'pencil', action: () => setOpen({ act: 'edit', rule }) },
                    {
                      label: 'Delete…',
                      icon: 'trash',
                      isDanger: true,
                      action: () => setOpen({ act: 'delete', rule }),
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
      {open?.act === 'edit' && <RuleDialog org={org} rule={open.rule} onClose={close} />}
      {open?.act === 'delete' && (
        <ConfirmDialog
          title="Delete this rule?"
          action="Delete this rule"
          onConfirm={async () => {
            await deleteRule(org, open.rule.uuid)
            await queryClient.invalidateQueries({ queryKey: rulesQuery(org).queryKey })
            showToast('The rule is deleted.')
          }}
          onClose={close}
        >
          <p>
            {nameOf(open.rule.source)} may not {actionNames[open.rule.type]} {nameOf(open.rule.target)} any
            more.
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}

const nameOf = (pipeline: Rule['source']) =>
  pipeline === null ? 'a pipeline that is not yours to see' : showLabel(pipeline.name)

const Pipeline = ({ org, pipeline }: { org: string; pipeline: Rule['source'] }) =>
  pipeline === null ? (
    <span className="muted">Not yours to see</span>
  ) : (
    <Link to="/$org/$pipeline" params={{ org, pipeline: pipeline.slug }} title={showLabel(pipeline.name)}>
      {showLabel(pipeline.name)}
    </Link>
  )
