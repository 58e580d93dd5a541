//! The contract of every store, as tests that run against each store: `store_suite!(engine);` in a test file.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test fails by panicking")]

pub mod activity;
mod attempts;
pub mod audit;
pub mod block_races;
pub mod blocks;
pub mod crypto;
mod dispute;
pub mod drains;
pub mod due;
pub mod durability;
pub mod endpoint_queues;
pub mod endpoints;
pub mod epochs;
pub mod event_log;
pub mod events;
pub mod fan_out;
mod harness;
pub mod idempotency;
pub mod infraction_money;
pub mod infractions;
pub mod lists;
pub mod logins;
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
pub mod timeline;
pub mod top_ups;
pub mod usage;
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
                missing_charge_is_not_found
                charge_is_found_under_its_own_account_only
            }
            records {
                records_are_found_by_their_keys
                accounts_come_back
                extreme_accounts_come_back
                accounts_come_back_changed
                keys_come_back_with_their_account
                keys_come_back_changed
                callbacks_come_back
                callbacks_come_back_changed
                unmatched_callbacks_are_listed_and_counted
                open_callbacks_are_found_by_their_names
            }
            idempotency {
                first_use_of_key_creates_its_record
                second_use_of_key_is_refused_with_its_record
                key_is_free_in_another_account
                keys_differ_in_every_character
                takeover_increases_the_fence
                record_is_answered_once
                answer_is_read_back_byte_for_byte
                released_record_is_resumed
                refused_record_leaves_nothing
            }
            logins {
                users_come_back_in_every_state
                sessions_come_back_and_are_listed
                confirmations_come_back
                old_sessions_and_confirmations_are_removed
            }
            audit {
                audit_row_is_written_with_its_change
                audit_rows_are_filtered_and_paged
            }
            reservations {
                reserved_value_has_one_owner
                kinds_and_accounts_do_not_share_values
                external_ids_differ_in_every_character
                first_taken_value_is_named
                freed_value_can_be_reserved_again
                freed_value_stays_taken_in_the_same_change_set
            }
            versions {
                checks_come_in_the_documented_order
                stale_change_leaves_nothing
                records_of_every_kind_are_guarded
                record_is_inserted_once
                second_update_in_a_batch_is_stale
            }
            money {
                payment_is_credited_less_its_fee
                system_balance_is_the_sum_of_its_rows
                repeated_payment_is_credited_once
                cover_is_exact_to_the_centavo
                cover_is_checked_in_the_order_of_transfers
                uncovered_money_leaves_nothing
                buckets_cover_only_their_own_transfers
                greatest_amount_moves
                balance_out_of_range_is_refused
                last_ledger_check_is_returned
            }
            events {
                sequences_count_from_one_in_each_account
                change_set_receives_its_sequences_in_order
                sequences_have_no_gap_under_load
            }
            event_log {
                event_data_is_read_back_byte_for_byte
                events_are_listed_in_both_directions
                events_of_one_type_are_listed
                events_of_one_resource_are_listed
                walk_through_events_is_stable_while_events_arrive
                foreign_events_are_not_found
                forward_reader_misses_no_event_under_load
            }
            endpoints {
                endpoints_come_back_in_every_state
                extreme_endpoints_come_back
                endpoints_come_back_changed
                stale_endpoint_leaves_nothing
                deleted_and_foreign_endpoints_are_not_listed
                addresses_and_slots_have_one_owner
            }
            fan_out {
                subscribed_endpoints_get_a_delivery
                ended_and_foreign_endpoints_get_no_delivery
                named_endpoint_is_found_by_its_id_and_address
                charge_events_reach_the_endpoint_that_it_names
                events_of_a_change_set_have_separate_deliveries
                refused_change_set_leaves_no_delivery
                ended_endpoint_gets_no_event_of_its_end
                deliveries_match_events_under_load
                endpoint_ended_meanwhile_has_no_pending_delivery
            }
            queue {
                due_delivery_is_claimed_once
                tests_are_delivered_like_events
                longest_overdue_deliveries_are_claimed_first
                endpoint_gets_no_more_than_its_slots
                delivery_with_expired_lease_is_claimed_again
                deliveries_put_off_by_a_wrong_clock_are_due
                claims_alone_use_up_no_attempts
                late_outcome_counts_without_another_claim
                outcomes_are_stored
                attempts_come_back
                deliveries_are_listed_by_their_endpoint
                put_beyond_the_limit_adds_nothing
                resent_delivery_restarts_its_schedule
            }
            epochs {
                queues_of_no_active_endpoint_have_no_deliveries
                deliveries_of_inactive_endpoint_wait
                deliveries_of_inactive_endpoint_end_with_it
                waiting_delivery_is_cancelled_when_endpoint_ends
                delivery_in_flight_ends_with_its_endpoint
                cancelled_delivery_can_be_put_again
                delivery_cancelled_in_flight_can_be_put_again
                endpoint_failure_is_recorded_until_success
            }
            usage {
                latest_use_of_a_key_is_kept
                requests_are_listed_trimmed_and_pruned
                entries_are_summed_by_hour
                sums_are_bounded_and_continue
            }
            activity {
                activity_counts_waiting_and_finds_the_last_success
                activity_of_another_epoch_or_account_is_separate
            }
            endpoint_queues {
                queues_come_in_their_order
                walk_with_cursor_visits_all_queues
                queues_exclude_deliveries_in_flight_or_ended
                large_backlog_hides_no_queue
                new_deliveries_are_hinted_once
            }
            queue_races {
                racing_nodes_claim_each_delivery_once
                racing_nodes_lose_no_delivery_of_new_events
            }
            retention {
                pruning_leaves_a_sequence_without_a_gap
                deliveries_go_with_their_events
                events_go_although_inactive_endpoint_waits
                deleted_endpoints_go_last
            }
            races {
                idempotency_key_goes_to_one_of_many_callers
                external_id_goes_to_one_of_many_callers
                last_money_goes_to_one_of_many_callers
                repeated_callbacks_credit_a_payment_once
                refused_change_sets_do_not_affect_neighbors
                payments_of_many_accounts_add_up
            }
            lists {
                pages_are_newest_first_and_complete
                has_more_is_exact_at_every_limit
                walk_is_stable_while_rows_arrive
                invisible_and_foreign_charges_are_not_listed
                charges_of_a_payer_are_listed
                cursor_need_not_exist
                accounts_are_listed_newest_first
                newest_keys_are_listed
            }
            due {
                due_records_come_longest_overdue_first
                due_callbacks_come_longest_overdue_first
                overdue_charges_come_longest_overdue_first
                pruning_removes_only_old_finished_records
            }
            payouts {
                payouts_come_back_in_every_state
                extreme_payouts_come_back
                payouts_come_back_after_every_update
                stale_payout_leaves_nothing
                invisible_and_foreign_payouts_are_not_listed
                pages_of_payouts_are_complete_and_stable
                due_payouts_come_longest_overdue_first
                payouts_are_found_by_instruction_id
                payouts_are_found_by_their_pix
            }
            crypto {
                crypto_quotes_come_back
                crypto_quote_is_used_once
                newest_crypto_quote_is_found_by_currency
                crypto_deposits_come_back_in_every_state
                crypto_deposit_is_found_by_its_payment
                crypto_lists_show_visible_records_of_the_account
                due_crypto_records_come_longest_overdue_first
                updates_of_one_payment_in_a_batch_follow_each_other
                deposit_payments_come_back_and_wait_for_review
                credited_crypto_deposit_agrees_with_the_ledger
                completed_crypto_withdrawal_agrees_with_the_ledger
                expired_unused_crypto_quotes_are_removed
                crypto_withdrawals_come_back_in_every_state
                withdrawals_wait_for_review
            }
            payout_money {
                payout_is_held_and_completed
                failed_payout_returns_all_money
                abandoned_payout_is_tried_again
                uncovered_payout_leaves_nothing
                last_money_covers_one_of_many_payouts
                payout_with_racing_outcomes_has_one
                payout_return_is_credited_once
                payout_may_pay_a_charge_of_another_account
                external_ids_are_unique_among_payouts
            }
            refunds {
                refunds_come_back_in_every_state
                extreme_refunds_come_back
                refunds_come_back_after_every_update
                charge_is_read_with_its_refunded_amounts
                stale_refund_leaves_nothing
                refunds_are_listed_with_their_charge
                due_refunds_come_longest_overdue_first
            }
            refund_money {
                charge_is_refunded_in_parts
                failed_refund_returns_all_money
                payment_has_its_refunds_beyond_the_charge
                refund_and_its_charge_change_together
                uncovered_refund_leaves_nothing
                racing_refunds_of_a_charge_succeed_once
                refund_with_racing_outcomes_has_one
            }
            releases {
                releases_come_back
                due_releases_come_longest_overdue_first
                delayed_payment_is_pending_until_its_release
                release_is_made_once
                refused_release_leaves_nothing
            }
            splits {
                parts_of_a_charge_are_credited_together
                charge_can_be_split_whole
                splits_race_with_payouts_of_their_beneficiaries
                split_is_read_back_with_its_charge
                part_can_be_spent_at_once
            }
            infractions {
                infractions_come_back_in_every_state
                extreme_infractions_come_back
                infractions_come_back_changed
                stale_infraction_leaves_nothing
                infractions_are_listed_newest_first
                infractions_for_review_are_walked_by_their_ids
                infractions_of_a_pix_are_found
                open_infractions_are_walked_by_their_beginning
                due_infractions_come_longest_overdue_first
                undefended_infractions_come_nearest_deadline_first
                positions_move_on
            }
            drains {
                drains_are_listed_by_name
                open_orders_are_counted_by_acquirer
            }
            infraction_money {
                infraction_is_opened_and_resolved
                charge_that_was_lost_whole_is_refunded
                lost_infraction_closes_its_shortfall
                several_infractions_share_a_pix
                repeated_callbacks_open_an_infraction_once
                disputes_of_one_pix_are_opened_one_after_the_other
                infraction_with_racing_outcomes_has_one
                dispute_races_with_refunds
                payouts_race_with_a_dispute
            }
            blocks {
                block_seizes_existing_money
                block_affects_its_own_account_only
                changed_limit_frees_or_seizes
                ended_block_returns_all_money
                freed_money_goes_to_the_next_block
                block_end_with_outdated_amount_is_refused
                refused_change_set_blocks_nothing
                statement_explains_blocked_money
                audit_compares_blocked_balance_with_blocks
            }
            top_ups {
                credits_of_every_kind_top_up_blocks
                shares_top_up_blocks_of_their_receiver_only
                oldest_infraction_is_topped_up_first
                change_set_tops_up_blocks_once_at_its_end
                seized_pending_money_is_not_released
                freed_pending_money_is_pending_again
                freed_pending_money_is_released_in_time
                shortfall_outlives_releases
            }
            block_races {
                payouts_race_with_an_opening_block
                credits_race_with_opening_blocks
                block_ended_by_many_callers_ends_once
                rules_hold_after_every_step
                rules_hold_after_every_round
            }
            statement {
                statement_replays_to_the_balance
                statement_lines_describe_their_movements
                split_credit_line_hides_its_charge
                filters_of_a_statement_combine
                pages_of_a_statement_are_complete_and_stable
                entry_is_a_cursor_for_its_own_account_only
            }
            timeline {
                transactions_are_merged_in_the_order_of_their_keys
                filters_of_a_timeline_combine
                pages_of_a_timeline_are_stable_while_rows_arrive
                timeline_cursor_need_not_match
                unfinished_and_foreign_transactions_are_not_shown
                split_credit_is_shown_to_its_beneficiary_only
                transactions_are_found_by_their_keys
            }
            reconciliation {
                payments_are_listed_in_order
                payouts_are_listed_in_order
                crypto_records_of_a_span_are_listed_in_order
            }
            workload {
                a_random_workload_agrees_with_the_model
            }
            durability {
                reopened_store_has_all_records
                reopened_store_continues_deliveries
                reopened_store_keeps_its_blocks
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
