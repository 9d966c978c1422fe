//! The demo's devices: each publishes as its vendor's firmware does, topics and payloads alike.
//!
//! One thread, one connection, one turn a second. Shapes, not products: names, ids and values are
//! made up. The weather station was "offline" before the first start and delivers its last day at
//! once, with the times of its readings.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;
use siltstone_tests::publisher::Publisher;

use crate::models::{Cycle, Drift, Random, daily, round, sun, text_without_zone};

/// Turns a second long.
const TURN: Duration = Duration::from_secs(1);
/// What the weather station kept while it was offline.
const BACKLOG_SECONDS: u64 = 86_400;
/// The weather station's interval.
const WEATHER_SECONDS: u64 = 60;

/// The running devices.
pub(crate) struct Sensors {
    stopping: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl Sensors {
    /// Connects to the broker on `port` and starts publishing.
    pub(crate) fn start(port: u16, with_backlog: bool) -> Result<Self, String> {
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopping);
        let mut publisher = Publisher::connect(port, "demo-sensors");
        let thread = std::thread::Builder::new()
            .name("sensors".to_owned())
            .spawn(move || {
                let mut home = Home::new();
                let mut published = if with_backlog { home.backlog(&mut publisher) } else { 0 };
                let begin = Instant::now();
                for turn in 0u32.. {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    published += home.turn(u64::from(turn), &mut publisher);
                    std::thread::sleep((begin + TURN * (turn + 1)).saturating_duration_since(Instant::now()));
                }
                publisher.flush();
                published
            })
            .map_err(|error| format!("the sensors' thread can't be started: {error}"))?;
        Ok(Self { stopping, thread })
    }

    /// How many devices there are.
    pub(crate) fn device_count(&self) -> usize {
        DEVICES.len()
    }

    /// Stops them; gives the number of messages the broker has taken.
    pub(crate) fn stop(self) -> u64 {
        self.stopping.store(true, Ordering::SeqCst);
        self.thread.join().unwrap_or(0)
    }
}

/// What every device may look at: the time and the weather.
struct Moment {
    unix_ms: u64,
    /// Seconds since the epoch, for the curves of the day.
    seconds: f64,
}

/// A device: how often it speaks, and what it says.
type Device = (u64, fn(&mut Home, &Moment, &mut Publisher) -> u64);

/// Every device with its interval in turns.
const DEVICES: &[Device] = &[
    (5, Home::zigbee_climate),
    (30, Home::zigbee_contact),
    (2, Home::tasmota_plug),
    (3, Home::esphome_greenhouse),
    (1, Home::shelly_switch),
    (2, Home::solar_inverter),
    (2, Home::victron_battery),
    (10, Home::ble_thermometer),
    (1, Home::press),
    (WEATHER_SECONDS, Home::weather),
];

/// The state of everything that is simulated.
struct Home {
    random: Random,
    room: Drift,
    soil: f64,
    wind: Drift,
    cloud: Drift,
    washer: Cycle,
    washer_kwh: f64,
    boiler: Cycle,
    boiler_wh: f64,
    window: Cycle,
    battery_percent: f64,
    solar_kwh: f64,
    press: Cycle,
    strokes: u64,
}

impl Home {
    fn new() -> Self {
        Self {
            random: Random::new(20_240_601),
            room: Drift::new(0.03),
            soil: 41.0,
            wind: Drift::new(0.3),
            cloud: Drift::new(0.04),
            washer: Cycle::new(90.0, 60.0),
            washer_kwh: 812.4,
            boiler: Cycle::new(40.0, 50.0),
            boiler_wh: 5_120.0,
            window: Cycle::new(60.0, 240.0),
            battery_percent: 64.0,
            solar_kwh: 3.2,
            press: Cycle::new(8.0, 4.0),
            strokes: 128_734,
        }
    }

    /// One turn: every device whose interval it is. Gives the number of messages.
    fn turn(&mut self, turn: u64, publisher: &mut Publisher) -> u64 {
        let moment = moment(now_ms());
        DEVICES
            .iter()
            .enumerate()
            .filter(|(at, (interval, _))| turn == 0 || (turn + *at as u64).is_multiple_of(*interval))
            .map(|(_, (_, speak))| speak(self, &moment, publisher))
            .sum()
    }

    /// What the weather station kept: a day of readings, oldest first.
    fn backlog(&mut self, publisher: &mut Publisher) -> u64 {
        let now = now_ms();
        let turns = BACKLOG_SECONDS / WEATHER_SECONDS;
        for turn in 0..turns {
            let at = moment(now - (turns - turn) * WEATHER_SECONDS * 1000);
            self.weather(&at, publisher);
        }
        turns
    }

    fn zigbee_climate(&mut self, at: &Moment, to: &mut Publisher) -> u64 {
        let temperature = daily(at.seconds, 20.5, 1.2) + self.room.next(&mut self.random);
        let humidity = 52.0 - 2.0 * (temperature - 20.5) + 0.2 * self.random.normal();
        let link = 90 + (10.0 * self.random.unit()) as i64;
        let state = json!({
            "battery": 91, "humidity": round(humidity, 2), "last_seen": at.unix_ms, "linkquality": link,
            "pressure": null, "temperature": round(temperature, 2), "voltage": 2985,
        });
        to.publish("zigbee2mqtt/Living room/Window sill", state.to_string());
        1
    }

    fn zigbee_contact(&mut self, at: &Moment, to: &mut Publisher) -> u64 {
        let open = self.window.next(30.0, &mut self.random);
        let state = json!({ "battery": 100, "contact": !open, "last_seen": at.unix_ms, "linkquality": 66 });
        to.publish("zigbee2mqtt/Cellar/Door", state.to_string());
        to.publish("zigbee2mqtt/Cellar/Door/availability", json!({ "state": "online" }).to_string());
        2
    }

    fn tasmota_plug(&mut self, at: &Moment, to: &mut Publisher) -> u64 {
        let on = self.washer.next(2.0, &mut self.random);
        let power = if on { 1_900.0 + 60.0 * self.random.normal() } else { 1.2 };
        self.washer_kwh += power * 2.0 / 3_600_000.0;
        let voltage = (230.0 + 1.5 * self.random.normal()).round();
        let sensor = json!({
            "Time": text_without_zone(at.unix_ms / 1000),
            "ENERGY": {
                "Total": round(self.washer_kwh, 3), "Power": power.round(), "Voltage": voltage,
                "Current": round(power / voltage, 3), "Factor": if on { 0.98 } else { 0.31 },
            },
        });
        to.publish("tele/washing-machine/SENSOR", sensor.to_string());
        to.publish("stat/washing-machine/POWER", if on { "ON" } else { "OFF" });
        2
    }

    fn esphome_greenhouse(&mut self, at: &Moment, to: &mut Publisher) -> u64 {
        self.soil -= 0.01;
        if self.soil < 36.0 {
            self.soil = 44.0;
        }
        let warmth = daily(at.seconds, 18.0, 6.0) + 0.05 * self.random.normal();
        to.publish("greenhouse/sensor/soil_moisture/state", format!("{:.1}", self.soil));
        to.publish("greenhouse/sensor/air_temperature/state", format!("{warmth:.2}"));
        // One probe in a hundred reads fails, and says so.
        let light = if self.random.chance(0.01) {
            "nan".to_owned()
        } else {
            format!("{:.0}", 800.0 * sun(at.seconds))
        };
        to.publish("greenhouse/sensor/light/state", light);
        to.publish("greenhouse/binary_sensor/vent/state", if warmth > 20.0 { "ON" } else { "OFF" });
        4
    }

    fn shelly_switch(&mut self, at: &Moment, to: &mut Publisher) -> u64 {
        let on = self.boiler.next(1.0, &mut self.random);
        let power = if on { 1_470.0 + 8.0 * self.random.normal() } else { 0.0 };
        self.boiler_wh += power / 3_600.0;
        let status = json!({
            "id": 0, "source": "timer", "output": on, "apower": round(power, 1),
            "voltage": round(229.8 + self.random.normal(), 1), "current": round(power / 229.8, 3),
            "aenergy": { "total": round(self.boiler_wh, 3) }, "ts": at.unix_ms as f64 / 1000.0,
            "temperature": { "tC": round(44.0 + if on { 4.0 } else { 0.0 } + 0.2 * self.random.normal(), 1) },
        });
        to.publish("shellyplus1pm-0a1b2c3d4e5f/status/switch:0", status.to_string());
        1
    }

    fn solar_inverter(&mut self, at: &Moment, to: &mut Publisher) -> u64 {
        let clouds = (0.8 + self.cloud.next(&mut self.random)).clamp(0.1, 1.0);
        let power = 600.0 * sun(at.seconds) * clouds;
        self.solar_kwh += power * 2.0 / 3_600_000.0;
        to.publish("solar/112183000123/0/power", format!("{power:.1}"));
        to.publish("solar/112183000123/0/yieldtotal", format!("{:.3}", self.solar_kwh));
        to.publish("solar/112183000123/status/producing", if power > 1.0 { "1" } else { "0" });
        3
    }

    fn victron_battery(&mut self, at: &Moment, to: &mut Publisher) -> u64 {
        let current = 12.0 * sun(at.seconds) - 4.0 + 0.3 * self.random.normal();
        self.battery_percent = (self.battery_percent + current / 4_000.0).clamp(20.0, 100.0);
        let say = |value: f64| json!({ "value": value }).to_string();
        to.publish("N/c0619ab12345/battery/258/Soc", say(round(self.battery_percent, 1)));
        to.publish("N/c0619ab12345/battery/258/Dc/0/Current", say(round(current, 1)));
        to.publish(
            "N/c0619ab12345/battery/258/Dc/0/Voltage",
            say(round(50.5 + self.battery_percent / 25.0, 2)),
        );
        3
    }

    fn ble_thermometer(&mut self, at: &Moment, to: &mut Publisher) -> u64 {
        let celsius = daily(at.seconds, 4.5, 0.6) + 0.05 * self.random.normal();
        let state = json!({
            "id": "A4:C1:38:00:11:22", "name": "fridge", "rssi": -71, "tempc": round(celsius, 1),
            "tempf": round(celsius * 1.8 + 32.0, 2), "hum": round(61.0 + self.random.normal(), 1), "batt": 87,
        });
        to.publish("home/gateway/BTtoMQTT/A4C138001122", state.to_string());
        1
    }

    fn press(&mut self, at: &Moment, to: &mut Publisher) -> u64 {
        let running = self.press.next(1.0, &mut self.random);
        self.strokes += u64::from(running);
        let state = json!({
            "ts": at.unix_ms, "mode": if running { "running" } else { "idle" }, "strokes": self.strokes,
            "force_kn": round(if running { 84.0 + 3.0 * self.random.normal() } else { 0.0 }, 1),
            "oil": { "temperature": round(46.0 + self.room.next(&mut self.random), 2), "level_ok": true },
        });
        to.publish("plant/hall 1/press/telemetry", state.to_string());
        1
    }

    fn weather(&mut self, at: &Moment, to: &mut Publisher) -> u64 {
        let state = json!({
            "ts": at.unix_ms,
            "temperature": round(daily(at.seconds, 6.0, 4.0) + self.room.next(&mut self.random), 1),
            "wind_ms": round((3.0 + self.wind.next(&mut self.random)).abs(), 1),
            "pressure_hpa": round(1_004.0 + 3.0 * daily(at.seconds, 0.0, 1.0), 1),
            "rain": self.random.chance(0.05),
        });
        to.publish("garden/weather", state.to_string());
        1
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(0)
}

fn moment(unix_ms: u64) -> Moment {
    Moment { unix_ms, seconds: unix_ms as f64 / 1000.0 }
}
