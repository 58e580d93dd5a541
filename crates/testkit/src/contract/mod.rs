//! The contract of every store, as tests that run against each of them: `store_suite!(engine);` in a test file.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "these are tests: they fail by panicking")]

mod attempts;
pub mod audit;
pub mod block_races;
pub mod blocks;
pub mod claims;
mod dispute;
pub mod due;
pub mod durability;
pub mod endpoints;
pub mod epochs;
pub mod event_log;
pub mod events;
pub mod fan_out;
mod harness;
pub mod infraction_money;
pub mod infractions;
pub mod lanes;
pub mod lists;
pub mod money;
pub mod payout_money;
pub mod payouts;
mod probe;
pub mod queue;
pub mod queue_races;
pub mod races;
pub mod reconciliation;
pub mod records;
pub mod refund_money;
pub mod refunds;
pub mod releases;
pub mod reservations;
pub mod retention;
pub mod rows;
pub mod splits;
pub mod statement;
pub mod sweeps;
pub mod timeline;
pub mod versions;
pub mod workload;

pub use harness::{Engine, Harness, WholeStore, run};

/// Declares one test for each rule of the contract. `$engine` names a function without arguments in scope that returns a `Box<dyn Engine>`.
#[macro_export]
macro_rules! store_suite {
    ($engine:ident) => {
        $crate::store_suite! { @tests $engine
            rows {
                charges_come_back_in_every_state
                charges_come_back_after_every_update
                extreme_charges_come_back
                what_was_never_written_is_not_found
                one_accounts_charge_is_not_anothers
            }
            records {
                accounts_come_back
                extreme_accounts_come_back
                accounts_come_back_changed
                keys_come_back_with_their_account
                keys_come_back_changed
                notices_come_back
                notices_come_back_changed
                unmatched_notices_are_listed_and_counted
                open_notices_are_found_by_their_names
            }
            claims {
                the_first_use_of_a_key_takes_it
                a_second_use_is_refused_with_the_claim
                a_key_is_free_in_another_account
                keys_differ_in_every_character
                a_takeover_moves_the_fence
                the_holder_answers_once
                an_answer_comes_back_byte_for_byte
                a_claim_given_back_is_resumed
                a_refused_claim_leaves_nothing
            }
            audit {
                audit_row_is_written_with_its_change
                audit_rows_are_filtered_and_paged
            }
            reservations {
                a_value_has_one_owner
                kinds_and_accounts_do_not_share_values
                external_ids_differ_in_every_character
                the_first_taken_value_is_named
                a_value_given_back_is_free
                giving_back_does_not_help_the_same_change_set
            }
            versions {
                checks_come_in_the_documented_order
                a_stale_change_leaves_nothing
                every_kind_of_record_is_guarded
                one_of_two_updates_in_a_batch_is_stale
            }
            money {
                a_payment_is_credited_less_its_fee
                the_same_payment_is_credited_once
                cover_is_exact_to_the_centavo
                cover_is_judged_in_the_order_of_transfers
                uncovered_money_leaves_nothing
                every_bucket_is_its_own
                the_greatest_amount_moves
                a_balance_out_of_range_is_refused
            }
            events {
                sequences_count_from_one_in_each_account
                a_change_set_learns_its_sequences_in_order
                sequences_have_no_gap_under_load
            }
            event_log {
                bodies_are_composed_with_their_sequence
                events_are_listed_in_both_directions
                events_of_one_type_are_listed
                a_walk_through_events_is_stable_while_they_come
                foreign_events_are_not_found
                a_reader_misses_nothing_under_load
            }
            endpoints {
                endpoints_come_back_in_every_state
                extreme_endpoints_come_back
                endpoints_come_back_changed
                a_stale_endpoint_leaves_nothing
                deleted_and_foreign_endpoints_are_not_listed
                addresses_and_places_have_one_owner
            }
            fan_out {
                subscribed_endpoints_hear_of_an_event
                endpoints_that_are_not_called_hear_of_nothing
                a_named_endpoint_hears_by_its_id_and_by_its_address
                a_charges_events_reach_the_endpoint_that_it_names
                each_event_of_a_change_set_has_its_deliveries
                a_refused_change_set_leaves_no_delivery
                an_endpoint_is_not_told_of_its_own_end
                deliveries_match_events_under_load
                nothing_waits_for_an_endpoint_that_ended_meanwhile
            }
            queue {
                what_is_due_is_claimed_once
                tests_are_delivered_like_events
                the_longest_overdue_are_claimed_first
                an_endpoint_has_so_many_places
                what_a_node_lost_is_claimed_again
                deliveries_put_off_by_a_wrong_clock_are_due
                claims_alone_use_up_no_attempts
                a_late_outcome_counts_while_nobody_else_claimed
                outcomes_are_remembered
                attempts_come_back
                deliveries_are_listed_by_their_endpoint
                put_beyond_the_limit_adds_nothing
                what_is_put_again_begins_anew
            }
            epochs {
                lanes_that_lead_nowhere_have_nothing
                deliveries_of_inactive_endpoint_wait
                deliveries_of_inactive_endpoint_end_with_it
                what_waits_is_cancelled_when_its_endpoint_ends
                what_was_on_its_way_ends_with_its_endpoint
                what_was_cancelled_can_be_put_again
                what_was_cancelled_on_its_way_can_be_put_again
                an_endpoints_health_is_remembered
            }
            lanes {
                lanes_come_in_their_order
                whoever_goes_on_comes_by_all_lanes
                lanes_forget_what_is_under_way_or_over
                a_large_backlog_hides_no_lane
                a_node_is_told_what_came_into_being
            }
            queue_races {
                no_delivery_is_claimed_twice
                nothing_is_lost_while_events_come
            }
            retention {
                pruning_leaves_a_sequence_without_a_gap
                deliveries_go_with_their_events
                events_go_although_inactive_endpoint_waits
                deleted_endpoints_go_last
            }
            races {
                one_of_many_callers_gets_an_idempotency_key
                one_of_many_callers_gets_an_external_id
                one_of_many_callers_gets_the_last_money
                one_of_many_notices_credits_a_payment
                refused_change_sets_cost_their_neighbours_nothing
                payments_of_many_accounts_add_up
            }
            lists {
                pages_are_newest_first_and_complete
                has_more_is_exact_at_every_limit
                a_walk_is_stable_while_rows_arrive
                invisible_and_foreign_charges_are_not_listed
                a_cursor_need_not_exist
                accounts_are_listed_newest_first
                the_newest_keys_are_listed
            }
            due {
                due_claims_come_longest_overdue_first
                due_notices_come_longest_overdue_first
                overdue_charges_come_longest_overdue_first
                pruning_removes_only_what_is_done_and_old
            }
            payouts {
                payouts_come_back_in_every_state
                extreme_payouts_come_back
                payouts_come_back_after_every_update
                a_stale_payout_leaves_nothing
                invisible_and_foreign_payouts_are_not_listed
                pages_of_payouts_are_complete_and_stable
                due_payouts_come_longest_overdue_first
                payouts_are_found_by_their_name_upstream
            }
            payout_money {
                a_payout_is_held_and_completed
                a_failed_payout_gives_all_back
                an_abandoned_payout_is_tried_again
                an_uncovered_payout_leaves_nothing
                one_of_many_payouts_gets_the_last_money
                one_outcome_of_a_payout_becomes_true
                what_came_back_is_credited_once
                a_payout_may_pay_a_charge_of_ours
                external_ids_are_unique_among_payouts
            }
            refunds {
                refunds_come_back_in_every_state
                extreme_refunds_come_back
                refunds_come_back_after_every_update
                a_charge_knows_what_goes_back
                a_stale_refund_leaves_nothing
                refunds_are_listed_with_their_charge
                due_refunds_come_longest_overdue_first
            }
            refund_money {
                a_charge_goes_back_in_parts
                a_refund_that_failed_gives_all_back
                payment_knows_its_refunds_beyond_the_charge
                a_refund_and_its_charge_change_together
                an_uncovered_refund_leaves_nothing
                one_of_many_refunds_gets_the_charge
                one_outcome_of_a_refund_becomes_true
            }
            releases {
                releases_come_back
                due_releases_come_longest_overdue_first
                a_payment_waits_for_its_release
                a_release_is_made_once
                a_release_that_is_refused_leaves_nothing
            }
            splits {
                the_parts_of_a_charge_are_credited_together
                a_charge_can_be_given_away_whole
                splits_race_with_payouts_of_their_beneficiaries
                a_split_comes_back_with_its_charge
                a_part_can_be_spent_at_once
            }
            infractions {
                infractions_come_back_in_every_state
                extreme_infractions_come_back
                infractions_come_back_changed
                a_stale_infraction_leaves_nothing
                infractions_are_listed_newest_first
                infractions_for_review_are_walked_by_their_ids
                infractions_of_a_pix_are_found
                open_infractions_are_walked_by_their_beginning
                due_infractions_come_longest_overdue_first
                undefended_infractions_come_nearest_deadline_first
                positions_move_on
            }
            infraction_money {
                an_infraction_is_opened_and_settled
                a_charge_that_was_lost_whole_is_refunded
                a_lost_infraction_closes_its_shortfall
                several_infractions_share_a_pix
                one_of_many_notices_opens_an_infraction
                disputes_of_one_pix_are_opened_one_after_the_other
                one_outcome_of_an_infraction_becomes_true
                a_dispute_races_with_refunds
                payouts_race_with_a_dispute
            }
            blocks {
                a_block_takes_what_there_is
                a_block_concerns_its_own_account
                another_limit_frees_or_takes
                a_block_that_ends_gives_all_back
                what_a_block_gives_back_goes_to_the_next
                a_block_ends_only_as_it_was_read
                a_refused_change_set_blocks_nothing
                the_statement_explains_what_is_held
                an_audit_compares_what_is_blocked_with_what_is_held
            }
            sweeps {
                every_credit_is_swept
                shares_are_swept_for_their_receiver_only
                the_oldest_infraction_is_filled_first
                a_change_set_is_swept_once_at_its_end
                what_was_taken_is_not_released_again
                what_was_taken_waits_again
                what_waits_again_is_released_in_time
                a_shortfall_outlives_releases
            }
            block_races {
                payouts_race_with_an_opening_block
                credits_race_with_opening_blocks
                one_of_many_callers_ends_a_block
                the_rules_hold_after_every_step
                the_rules_hold_after_every_round
            }
            statement {
                a_statement_replays_to_the_balance
                each_line_says_what_moved
                a_split_credit_tells_nothing_of_its_charge
                filters_of_a_statement_combine
                pages_of_a_statement_are_complete_and_stable
                an_entry_is_known_to_its_own_account
            }
            timeline {
                transactions_are_merged_in_the_order_of_their_keys
                filters_of_a_timeline_combine
                pages_of_a_timeline_are_stable_while_rows_arrive
                a_cursor_of_a_timeline_need_not_match
                unfinished_and_foreign_transactions_are_not_shown
                a_split_credit_is_shown_to_its_beneficiary_only
                transactions_are_found_by_their_keys
            }
            reconciliation {
                payments_are_listed_in_order
                payouts_are_listed_in_order
            }
            workload {
                a_random_workload_agrees_with_the_model
            }
            durability {
                a_reopened_store_has_everything
                a_reopened_store_goes_on_delivering
                a_reopened_store_holds_what_it_held
            }
        }
    };
    (@tests $engine:ident $($module:ident { $($case:ident)* })*) => {
        $(mod $module {
            $(
                #[test]
                fn $case() {
                    $crate::contract::run(super::$engine(), $crate::contract::$module::$case);
                }
            )*
        })*
    };
}
