import type { Caller, Organization } from '../../../auth/caller.ts'
import { checkPermission, type Permission } from '../../../auth/permissions.ts'
import { mayCreatePipelines } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'

/** What the caller may do in the organization, as the routes decide it. */
export async function findRights(db: Db, org: Organization, caller: Caller) {
  const may = async (permission: Permission) =>
    (await checkPermission(db, permission, org, caller, {})) === 'yes'
  return {
    create_pipelines: await mayCreatePipelines(db, org, caller),
    administer: await may('admin'),
    view_teams: await may('view_teams'),
    manage_services: await may('manage_notification_services'),
    view_audit_log: await may('admin'),
  }
}
