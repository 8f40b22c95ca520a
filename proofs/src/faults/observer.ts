// Triggers in the database that write down every change of a state, in the transaction of the change and independent of
// the program. They also follow the database to a standby.
import type pg from 'pg'

const install = `
  create schema faults;
  create table faults.moves (
    id bigint generated always as identity primary key, subject uuid not null, moved_from text, moved_to text not null);
  create table faults.cleared (build_id uuid not null);
  create function faults.note_move() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        insert into faults.moves (subject, moved_to) values (new.id, new.state);
      elsif old.state is distinct from new.state then
        insert into faults.moves (subject, moved_from, moved_to) values (new.id, old.state, new.state);
      end if;
      return null;
    end $$;
  create function faults.note_cleared() returns trigger language plpgsql as $$
    begin
      insert into faults.cleared values (new.id);
      return null;
    end $$;
  create trigger faults_moves after insert or update of state on jobs for each row execute function faults.note_move();
  create trigger faults_moves after insert or update of state on builds for each row execute function faults.note_move();
  create trigger faults_cleared after update of failing_at on builds for each row
    when (old.failing_at is not null and new.failing_at is null) execute function faults.note_cleared();`

export const installObserver = (db: pg.Client): Promise<unknown> => db.query(install)
